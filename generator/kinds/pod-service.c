/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/kinds/install.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/podman-args.h"
#include "generator/kinds/resource.h"
#include "generator/kinds/sections.h"
#include "generator/network/network-unit.h"
#include "generator/network/network.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/early.h"
#include "generator/parts/mounts.h"
#include "generator/parts/option-rules.h"
#include "generator/parts/owner.h"
#include "generator/parts/pods.h"
#include "generator/parts/user-namespace.h"
#include "generator/parts/users-container.h"
#include "keyturn-config.h"
#include "libstart/value/names.h"
#include "libstart/value/unit-words.h"

/*
 * [Unit]
 */

static void start_containers(Conversion *pod) {
        g_autoptr(GPtrArray) started = pod_find_started(pod);

        for (guint i = 0; i < started->len; i++) {
                const char *name = unit_names_service(pod->names, started->pdata[i], NULL);
                g_autofree char *service = name_is_template(name) ? name_instance(name, "%i") : g_strdup(name);

                service_unit(pod->service, "Wants", service);
                service_unit(pod->service, "Before", service);
        }
}

/*
 * [Service]
 */

/* The namespaces that this service makes: a network that is the host's, or that keyturn-network makes, is none of
 * them. */
static char *find_made(const Conversion *pod) {
        static const char *const kinds[] = { "ipc", "net", "uts" };
        g_autoptr(GString) made = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (pod_shares(pod, kinds[i]) &&
                    (!g_str_equal(kinds[i], "net") || g_strcmp0(pod->args->network, "none") == 0))
                        g_string_append_printf(made, "%s%s", made->len > 0 ? "," : "", kinds[i]);
        return g_string_free(g_steal_pointer(&made), FALSE);
}

/* The pod's name is its host name, too, unless there is another one. */
static void set_names(Conversion *pod) {
        LaunchArgs *args = pod->args;

        if (!args->name)
                args->name = name_default(pod->source->name);
        if (!args->hostname)
                args->hostname = g_strdup(args->name);
        if (!unit_word_is_unexpanded(args->hostname) && !name_is_host(args->hostname))
                conversion_problem(pod, NULL,
                                   "'%s' is the pod's name, and no host name: set HostName=", args->hostname);
}

/* As of a container. Where the containers do not share it, each has its own. */
static void set_network(Conversion *pod) {
        if (pod_shares(pod, "net")) {
                network_finish(pod);
                network_unit_finish(pod);
        } else if (pod->network.is_said || pod->network.published->len > 0 || pod->network.wishes->len > 0)
                conversion_problem(pod, conversion_line(pod, "Pod", "PodmanArgs"),
                                   "--share leaves out the network, and Network= or PublishPort= asks for one: write "
                                   "them in the .container files");
}

static void set_commands(Conversion *pod) {
        const LaunchArgs *args = pod->args;
        g_autofree char *made = find_made(pod), *userns = pod_user_namespace(pod),
                        *stem = pod_stem(pod->service->name);
        g_autoptr(GString) start = g_string_new(KEYTURN_LIBDIR "/libstart pod up"),
                           stop = g_string_new(KEYTURN_LIBDIR "/libstart pod down");

        if (made[0])
                unit_words_add_option(start, "--share", made);
        unit_words_add_option(start, "--pin", userns);
        if (pod_shares(pod, "uts"))
                unit_words_add_option(start, "--hostname", args->hostname);
        if (pod->network.file)
                unit_words_add_option(start, "--network", args->network);
        unit_words_add_option(start, "--shm-size", args->shm_size);
        pod_add_user_namespace(pod, start);
        unit_words_add_options(start, "--sysctl", args->sysctls);
        unit_words_add(start, stem);
        unit_words_add(stop, stem);
        service_set(pod->service, "ExecStart", start->str);
        service_set(pod->service, "ExecStopPost", stop->str); /* also after a start that has failed half-way */
}

/* As Podman's, whatever the file says: the infra container's end is a failure there. Here a start is all that can
 * fail, if the network cannot be made for example. systemd has no `always` for such a service: it would mean the
 * same. */
static void set_restart(Conversion *pod) {
        const UnitLine *line = service_user_line(pod->service, "Restart");

        if (!line || g_str_equal(line->value, "always") || g_str_equal(line->value, "on-success"))
                service_set(pod->service, "Restart", "on-failure");
}

static void set_service(Conversion *pod) {
        Service *service = pod->service;
        const LaunchArgs *args = pod->args;
        const UnitLine *exec = service_user_line(service, "ExecStart");
        g_autofree char *userns = user_namespace_service(pod);

        if (exec)
                conversion_problem(pod, exec, "keyturn writes ExecStart= itself; use ExecStartPre=");
        service_set(service, "Type", "oneshot");
        service_set(service, "RemainAfterExit", "yes");
        service_set(service, "NotifyAccess", "main"); /* it says why it fails */
        set_restart(pod);
        if (!service_user_line(service, "SyslogIdentifier"))
                service_set(service, "SyslogIdentifier", "%N");
        /* What it pins must be seen by everybody, so it has the host's mounts. A user namespace in which root is the
         * host's takes CAP_SETFCAP (user_namespaces(7)). */
        if (!pod->is_users)
                service_confine(service,
                                user_namespace_is_own(pod->args) ?
                                        "CAP_SYS_ADMIN CAP_NET_ADMIN CAP_SETUID CAP_SETGID CAP_SETFCAP" :
                                        "CAP_SYS_ADMIN CAP_NET_ADMIN",
                                NULL);
        service_limit_start(service, "60");
        if (args->userns && g_str_has_prefix(args->userns, "auto"))
                service_unit(service, "RequiresMountsFor", "/var/lib/keyturn /var/lib/containers/storage");
        if (userns)
                service_order_after(service, "Wants", userns);
        set_commands(pod);
}

static bool has_variable(const char *text) {
        for (; (text = strchr(text, '$')); text += 2)
                if (text[1] != '$')
                        return true;
        return false;
}

/* What the containers have from their pod stands in their units. */
static void refuse_variables(Conversion *pod) {
        const LaunchArgs *args = pod->args;
        const struct {
                const char *key;
                const GPtrArray *values;
        } taken[] = { { "Volume", args->volumes },         { "Volume", args->mounts },
                      { "AddHost", args->add_hosts },      { "DNS", args->dns },
                      { "DNSSearch", args->dns_search },   { "DNSOption", args->dns_option },
                      { "PodmanArgs", args->security_opt } };

        for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
                for (guint j = 0; j < taken[i].values->len; j++)
                        if (has_variable(taken[i].values->pdata[j]))
                                conversion_problem(pod,
                                                   conversion_line_with(pod, "Pod", taken[i].key,
                                                                        taken[i].values->pdata[j]),
                                                   "'%s': the pod's containers do not have the variables of its "
                                                   "service; write the value, or the key in the .container files",
                                                   (const char *) taken[i].values->pdata[j]);
}

/* Who the payloads are is said by each container. */
static void refuse_kept_user(Conversion *pod) {
        static const char *const keys[] = { "UserNS", "RemapUsers", "PodmanArgs" };
        const char *mode = pod->args->userns;
        const UnitLine *line = NULL;

        if (pod->is_users || !mode || !g_str_has_prefix(mode, "keep-id:"))
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(keys) && !line; i++)
                line = conversion_line(pod, "Pod", keys[i]);
        conversion_problem(pod, line, "'%s': a pod has no user: write keep-id, and User= in the .container files",
                           mode);
}

/* Of a template, as its containers see it. */
static bool is_instance(const Conversion *pod) {
        return name_is_template(pod->source->name) && !name_is_template(pod->service->name);
}

static void check_template(Conversion *pod) {
        bool is_template = name_is_template(pod->service->name);

        if (name_is_template(pod->source->name) && !name_has_at(pod->service->name))
                conversion_problem(pod, unit_names_line(pod->source), "the service of a template is one, too: NAME@");
        if (is_template && !name_is_template(pod->source->name))
                conversion_problem(pod, unit_names_line(pod->source),
                                   "'%s' would be a template, and the file is none: call it NAME@.pod",
                                   pod->service->name);
}

Conversion *pod_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Conversion *pod = conversion_new(source, service_name, names);

        pod->conf = conf;
        pod->is_users = keyturn_conf_is_users(conf);
        pod->section = keys_pod.section;
        pod->keys = &keys_pod;
        pod->pod.share = g_strdup("ipc,net,uts");
        sections_begin(pod);
        check_template(pod);
        owner_refuse(pod, pod->is_users ? "a user's manager starts nothing as somebody else: remove it" :
                                          "a pod belongs to root: give it ids of its own by UserNS= in [Pod]");
        keys_apply(pod, &keys_pod);
        keys_apply(pod, &keys_quadlet);
        keys_apply(pod, &keys_keyturn_pod);
        podman_args_apply(pod, &podman_pod_create);
        conf_modules_finish(pod);
        user_namespace_finish(pod);
        refuse_kept_user(pod);
        refuse_variables(pod);
        set_names(pod);
        mounts_find_sources(pod);
        set_network(pod);
        users_container_check_pod(pod);
        users_container_unit(pod, pod->service);
        option_rules_check(pod);
        early_order_before_basic(pod);
        sections_unit_of_pod(pod);
        start_containers(pod);
        set_service(pod);
        if (!is_instance(pod)) /* its template's [Install] says which */
                install_apply(pod);
        return pod;
}
