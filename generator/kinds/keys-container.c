/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/keys-container.h"
#include "generator/network/network.h"
#include "generator/parts/cgroup-limits.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/devices.h"
#include "generator/parts/early.h"
#include "generator/parts/images.h"
#include "generator/parts/layer-limits.h"
#include "generator/parts/log-driver.h"
#include "generator/parts/mounts.h"
#include "generator/parts/owner.h"
#include "generator/parts/pods.h"
#include "generator/parts/reload.h"
#include "generator/parts/runtime.h"
#include "generator/parts/user-namespace.h"
#include "libstart/base/error.h"
#include "libstart/request/auto-update.h"
#include "libstart/value/unit-words.h"
#include "libstart/value/user-spec.h"

static void set_string(char **field, const char *value) {
        g_free(*field);
        *field = g_strdup(value);
}

static bool handle_exec(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->args->command, g_strdup(value->text));
        return true;
}

static bool handle_user(Conversion *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->user, value->text);
        return key_set_option(container, "user", value->text, error);
}

static bool handle_group(Conversion *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->group, value->text);
        return true;
}

static bool handle_image(Conversion *container, const Key *key, const Value *value, GError **error) {
        container->image.is_made = image_is_file(value->text);
        g_free(container->image.name);
        container->image.name = container->image.is_made ? image_refer(container, value->text, error) : NULL;
        if (container->image.name)
                return true;
        container->image.name = g_strdup(value->text);
        return !container->image.is_made && image_check_name(value->text, error);
}

/* DIR[:O|:idmap]; what systemd expands is left for libstart to check. */
static bool handle_rootfs(Conversion *container, const Key *key, const Value *value, GError **error) {
        const char *colon = strchr(value->text, ':');

        set_string(&container->image.rootfs, value->text);
        if (unit_word_is_unexpanded(value->text))
                return true;
        if (value->text[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an absolute path", value->text);
        if (colon && !g_str_equal(colon, ":O") && !g_str_equal(colon, ":idmap"))
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "'%s': the only options are ':O' (an overlay keeps the directory as it is) and ':idmap' "
                        "(owners as in the user namespace)",
                        colon);
        return true;
}

/* key->text is what the option begins with. */
static bool handle_security(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, value->text, NULL);

        return key_set_option(container, "security-opt", option, error);
}

/* key->text is the option. */
static bool handle_security_flag(Conversion *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "false") || key_set_option(container, "security-opt", key->text, error);
}

/* The profile is loaded by then: it matters to services that come before basic.target. */
static bool handle_apparmor(Conversion *container, const Key *key, const Value *value, GError **error) {
        service_unit(container->service, "After", "apparmor.service");
        return handle_security(container, key, value, error);
}

static bool handle_notify(Conversion *container, const Key *key, const Value *value, GError **error) {
        bool notify;

        if (g_ascii_strcasecmp(value->text, "healthy") == 0)
                return key_set_option(container, "sdnotify", "healthy", error);
        if (g_str_equal(value->text, "container") || g_str_equal(value->text, "conmon")) {
                conversion_warning(
                        container, value->line,
                        "'%s' is a word of podman run's and not of Quadlet's, to which it means no: write yes "
                        "where the payload says itself when it is ready",
                        value->text);
                return true;
        }
        if (!key_parse_boolean(value->text, &notify, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is neither yes (1, true, on), no (0, false, off) nor healthy", value->text);
        return !notify || key_set_option(container, "sdnotify", "container", error);
}

bool handle_podman_args(Conversion *container, const Key *key, const Value *value, GError **error) {
        noted_add(container->podman.args, value->text, value->line);
        return true;
}

bool handle_global_args(Conversion *container, const Key *key, const Value *value, GError **error) {
        noted_add(container->podman.global_args, value->text, value->line);
        return true;
}

static bool handle_stop_timeout(Conversion *container, const Key *key, const Value *value, GError **error) {
        gint64 seconds;

        if (!g_ascii_string_to_signed(value->text, 10, -1, G_MAXINT32, &seconds, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no number of seconds (-1: wait for ever; specifiers do not work here)",
                                 value->text);
        g_free(container->stop_timeout);
        container->stop_timeout = g_strdup_printf("%" G_GINT64_FORMAT, seconds);
        return true;
}

/* Out of use in Podman, which still takes it. */
static bool handle_volatile_tmp(Conversion *container, const Key *key, const Value *value, GError **error) {
        container->volatile_tmp = g_str_equal(value->text, "true");
        return true;
}

static void finish_image(Conversion *container) {
        LaunchArgs *args = container->args;

        if (container->image.name && container->image.rootfs)
                conversion_problem(container, conversion_line(container, "Container", "Rootfs"),
                                   "Image= is given, too; remove one of the two");
        else if (!container->image.name && !container->image.rootfs) {
                if (container->source->unit->problems->len == 0) /* else it may be in a line that cannot be read */
                        conversion_problem(container, NULL, "Image= or Rootfs= must be given");
        } else {
                args->rootfs = container->image.rootfs ? FLAG_TRUE : FLAG_UNSET;
                args->image = g_strdup(container->image.rootfs ? container->image.rootfs : container->image.name);
        }
}

static void finish_user(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Container", "Group");
        g_autofree char *both = NULL;
        g_autoptr(GError) error = NULL;

        if (!container->group)
                return;
        if (!container->user) {
                conversion_problem(container, line, "User= must be given, too");
                return;
        }
        both = g_strconcat(container->user, ":", container->group, NULL);
        if (!launch_args_set(container->args, "user", both, &error))
                conversion_problem(container, line, "%s", error->message);
}

/* With ReadOnly=, /tmp is a tmpfs anyway. */
static void finish_volatile_tmp(Conversion *container) {
        if (container->volatile_tmp && container->args->read_only != FLAG_TRUE)
                (void) launch_args_set(container->args, "tmpfs", "/tmp:rw,size=512M,mode=1777", NULL);
}

void keys_container_finish(Conversion *container) {
        finish_image(container);
        finish_user(container);
        finish_volatile_tmp(container);
}

/* As AutoUpdate=, which with Podman is this label and nothing else. */
static bool handle_label(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char name[] = AUTO_UPDATE_LABEL "=";

        if (g_str_has_prefix(value->text, name))
                return keys_apply_value(container, "AutoUpdate", value->text + strlen(name), value->line, error);
        return key_set_option(container, "label", value->text, error);
}

/* That of crun which Podman sets for GroupAdd=keep-groups, and files from before Podman had it set themselves. As for
 * crun, anything but 0 says so. */
static bool handle_annotation(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char name[] = "run.oci.keep_original_groups=";

        if (!g_str_has_prefix(value->text, name))
                return key_set_option(container, "annotation", value->text, error);
        return g_str_equal(value->text + strlen(name), "0") ||
               key_set_option(container, "group-add", USER_SPEC_KEEP_GROUPS, error);
}

/* In systemd's EnvironmentFile= a leading '-' allows the file to be missing. For Podman it would be part of the
 * name. */
static bool handle_environment_file(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *path = NULL;

        if (value->text[0] == '-')
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': a '-' in front is systemd's, not Quadlet's; for a file that may be missing, "
                                 "use EnvironmentFile= in [Service] and EnvironmentHost=true",
                                 value->text);
        path = key_resolve_path(container->source->directory, value->text);
        return key_set_option(container, "env-file", path, error);
}

/*
 * The tables
 */

/* Every key that Quadlet has in [Container], and how Podman reads it. man keyturn.container(5) lists the same. */
static const Key container_keys[] = {
        { "AddCapability", READ_WORDS, handle_option, "cap-add" },
        { "AddDevice", READ_WORDS, handle_add_device, NULL },
        { "AddHost", READ_LINES, handle_option, "add-host" },
        { "Annotation", READ_PAIRS, handle_annotation, NULL },
        { "AppArmor", READ_LAST, handle_apparmor, "apparmor=" },
        { "AutoUpdate", READ_LAST, handle_auto_update, NULL },
        { "CgroupsMode", READ_LAST, handle_cgroups_mode, NULL },
        { "ContainerName", READ_LAST, handle_option, "name" },
        { "ContainersConfModule", READ_LINES, handle_conf_module, NULL },
        { "DNS", READ_LINES, handle_option, "dns" },
        { "DNSOption", READ_LINES, handle_option, "dns-option" },
        { "DNSSearch", READ_LINES, handle_option, "dns-search" },
        { "DropCapability", READ_WORDS, handle_option, "cap-drop" },
        { "Entrypoint", READ_LAST_SET, handle_option, "entrypoint" },
        { "Environment", READ_PAIRS, handle_option, "env" },
        { "EnvironmentFile", READ_ARGS, handle_environment_file, NULL },
        { "EnvironmentHost", READ_BOOLEAN, handle_option, "env-host" },
        { "Exec", READ_LAST_ARGS, handle_exec, NULL },
        { "ExposeHostPort", READ_LINES, handle_expose_host_port, NULL },
        { "GIDMap", READ_WORDS, handle_option, "gidmap" },
        { "GlobalArgs", READ_ARGS, handle_global_args, NULL },
        { "Group", READ_LAST, handle_group, NULL },
        { "GroupAdd", READ_LINES, handle_option, "group-add" },
        { "HealthCmd", READ_LAST, handle_option, "health-cmd" },
        { "HealthInterval", READ_LAST, handle_option, "health-interval" },
        { "HealthLogDestination", READ_LAST, handle_option, "health-log-destination" },
        { "HealthMaxLogCount", READ_LAST, handle_option, "health-max-log-count" },
        { "HealthMaxLogSize", READ_LAST, handle_option, "health-max-log-size" },
        { "HealthOnFailure", READ_LAST, handle_option, "health-on-failure" },
        { "HealthRetries", READ_LAST, handle_option, "health-retries" },
        { "HealthStartPeriod", READ_LAST, handle_option, "health-start-period" },
        { "HealthStartupCmd", READ_LAST, handle_option, "health-startup-cmd" },
        { "HealthStartupInterval", READ_LAST, handle_option, "health-startup-interval" },
        { "HealthStartupRetries", READ_LAST, handle_option, "health-startup-retries" },
        { "HealthStartupSuccess", READ_LAST, handle_option, "health-startup-success" },
        { "HealthStartupTimeout", READ_LAST, handle_option, "health-startup-timeout" },
        { "HealthTimeout", READ_LAST, handle_option, "health-timeout" },
        { "HostName", READ_LAST, handle_option, "hostname" },
        { "HttpProxy", READ_BOOLEAN, handle_option, "http-proxy" },
        { "IP", READ_LAST, handle_ip, "ip" },
        { "IP6", READ_LAST, handle_ip, "ip6" },
        { "Image", READ_LAST, handle_image, NULL },
        { "ImageVolume", READ_LAST, handle_option, "image-volume" },
        { "Label", READ_PAIRS, handle_label, NULL },
        { "LogDriver", READ_LAST, handle_log_driver, NULL },
        { "LogOpt", READ_WORDS, handle_log_option, NULL },
        { "Mask", READ_ARGS, handle_security, "mask=" },
        { "Memory", READ_LAST, handle_memory, NULL },
        { "Mount", READ_ARGS, handle_mount, NULL },
        { "Network", READ_LINES, handle_network, NULL },
        { "NetworkAlias", READ_LINES, handle_network_alias, NULL },
        { "NoNewPrivileges", READ_BOOLEAN, handle_security_flag, "no-new-privileges" },
        { "Notify", READ_LAST, handle_notify, NULL },
        { "PidsLimit", READ_LAST, handle_pids_limit, NULL },
        { "Pod", READ_LAST, handle_pod, NULL },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "PublishPort", READ_LINES, handle_publish_port, NULL },
        { "Pull", READ_LAST, handle_pull, NULL },
        { "ReadOnly", READ_BOOLEAN, handle_option, "read-only" },
        { "ReadOnlyTmpfs", READ_BOOLEAN, handle_option, "read-only-tmpfs" },
        { "ReloadCmd", READ_LAST_ARGS, handle_reload_cmd, NULL },
        { "ReloadSignal", READ_LAST, handle_reload_signal, NULL },
        { "RemapGid", READ_WORDS, handle_remap, "gid" },
        { "RemapUid", READ_WORDS, handle_remap, "uid" },
        { "RemapUidSize", READ_LAST, handle_remap, "size" },
        { "RemapUsers", READ_LAST, handle_remap, "users" },
        { "Retry", READ_LAST, handle_retry, "retry" },
        { "RetryDelay", READ_LAST, handle_retry_delay, "retry-delay" },
        { "Rootfs", READ_LAST, handle_rootfs, NULL },
        { "RunInit", READ_BOOLEAN, handle_option, "init" },
        { "SeccompProfile", READ_LAST, handle_security, "seccomp=" },
        { "Secret", READ_ARGS, handle_option, "secret" },
        { "SecurityLabelDisable", READ_BOOLEAN, handle_security_flag, "label=disable" },
        { "SecurityLabelFileType", READ_LAST, handle_security, "label=filetype:" },
        { "SecurityLabelLevel", READ_LAST, handle_security, "label=level:" },
        { "SecurityLabelNested", READ_BOOLEAN, handle_security_flag, "label=nested" },
        { "SecurityLabelType", READ_LAST, handle_security, "label=type:" },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "ShmSize", READ_LAST, handle_option, "shm-size" },
        { "StartWithPod", READ_BOOLEAN, handle_nothing, NULL }, /* for the pod */
        { "StopSignal", READ_LAST, handle_option, "stop-signal" },
        { "StopTimeout", READ_LAST, handle_stop_timeout, NULL },
        { "SubGIDMap", READ_LAST, handle_option, "subgidname" },
        { "SubUIDMap", READ_LAST, handle_option, "subuidname" },
        { "Sysctl", READ_WORDS, handle_option, "sysctl" },
        { "Timezone", READ_LAST, handle_option, "tz" },
        { "Tmpfs", READ_LINES, handle_option, "tmpfs" },
        { "UIDMap", READ_WORDS, handle_option, "uidmap" },
        { "Ulimit", READ_LINES, handle_option, "ulimit" },
        { "Umask", READ_LAST, handle_option, "umask" },
        { "Unmask", READ_ARGS, handle_security, "unmask=" },
        { "User", READ_LAST, handle_user, NULL },
        { "UserNS", READ_LAST, handle_option, "userns" },
        { "VolatileTmp", READ_BOOLEAN, handle_volatile_tmp, NULL },
        { "Volume", READ_LINES, handle_volume, NULL },
        { "WorkingDir", READ_LAST, handle_option, "workdir" },
};

const KeyTable keys_container = { "Container", container_keys, G_N_ELEMENTS(container_keys) };

/* keyturn's own. Podman copies the section and does not read it. */
static const Key keyturn_keys[] = {
        { "Early", READ_LAST, handle_early, NULL },
        { "LogFields", READ_BOOLEAN, handle_log_fields, NULL },
        { "Runtime", READ_LAST, handle_runtime, NULL },
        { "Store", READ_LAST, handle_store, NULL },
        { "WritableLayerInodes", READ_LAST, handle_layer_limit, "inodes" },
        { "WritableLayerSize", READ_LAST, handle_layer_limit, "size" },
};

const KeyTable keys_keyturn = { "Keyturn", keyturn_keys, G_N_ELEMENTS(keyturn_keys) };
