/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/kinds/keys-container.h"
#include "generator/network/network.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/early.h"
#include "generator/parts/mounts.h"
#include "generator/parts/user-namespace.h"
#include "libstart/base/error.h"
#include "libstart/value/unit-words.h"

static bool handle_exit_policy(Conversion *pod, const Key *key, const Value *value, GError **error) {
        pod->pod.stays = g_str_equal(value->text, "continue");
        return pod->pod.stays || g_str_equal(value->text, "stop") ||
               error_set(error, KT_ERROR_USAGE, "'%s' is neither stop nor continue", value->text);
}

/* The containers are stopped before their pod is, with their own time for it: as with Podman, whose `pod stop` then
 * finds nothing to stop. */
static bool check_stop_timeout(Conversion *pod, const Key *key, const Value *value, GError **error) {
        return g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXINT32, NULL, NULL) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no number of seconds", value->text);
}

static bool handle_userns(Conversion *pod, const Key *key, const Value *value, GError **error) {
        if (unit_word_is_unexpanded(value->text))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': whether there is a user namespace must be known here", value->text);
        return key_set_option(pod, "userns", value->text, error);
}

static const Key pod_keys[] = {
        { "AddHost", READ_LINES, handle_option, "add-host" },
        { "ContainersConfModule", READ_LINES, handle_conf_module, NULL },
        { "DNS", READ_LINES, handle_option, "dns" },
        { "DNSOption", READ_LINES, handle_option, "dns-option" },
        { "DNSSearch", READ_LINES, handle_option, "dns-search" },
        { "ExitPolicy", READ_LAST, handle_exit_policy, NULL },
        { "GIDMap", READ_WORDS, handle_option, "gidmap" },
        { "GlobalArgs", READ_ARGS, handle_global_args, NULL },
        { "HostName", READ_LAST, handle_option, "hostname" },
        { "IP", READ_LAST, handle_ip, "ip" },
        { "IP6", READ_LAST, handle_ip, "ip6" },
        { "Label", READ_PAIRS, handle_nothing, NULL }, /* nobody else sees labels of pods */
        { "Network", READ_LINES, handle_network, NULL },
        { "NetworkAlias", READ_LINES, handle_network_alias, NULL },
        { "PodName", READ_LAST, handle_option, "name" },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "PublishPort", READ_LINES, handle_publish_port, NULL },
        { "RemapGid", READ_WORDS, handle_remap, "gid" },
        { "RemapUid", READ_WORDS, handle_remap, "uid" },
        { "RemapUidSize", READ_LAST, handle_remap, "size" },
        { "RemapUsers", READ_LAST, handle_remap, "users" },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "ShmSize", READ_LAST, handle_option, "shm-size" },
        { "StopTimeout", READ_LAST, check_stop_timeout, NULL },
        { "SubGIDMap", READ_LAST, handle_option, "subgidname" },
        { "SubUIDMap", READ_LAST, handle_option, "subuidname" },
        { "UIDMap", READ_WORDS, handle_option, "uidmap" },
        { "UserNS", READ_LAST, handle_userns, NULL },
        { "Volume", READ_LINES, handle_volume, NULL },
};

const KeyTable keys_pod = { "Pod", pod_keys, G_N_ELEMENTS(pod_keys) };

static const Key keyturn_keys[] = {
        { "Early", READ_LAST, handle_early, NULL },
};

const KeyTable keys_keyturn_pod = { "Keyturn", keyturn_keys, G_N_ELEMENTS(keyturn_keys) };
