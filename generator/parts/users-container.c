/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/devices.h"
#include "generator/parts/option-rules.h"
#include "generator/parts/pasta.h"
#include "generator/parts/pods.h"
#include "generator/parts/user-namespace.h"
#include "generator/parts/users-container.h"
#include "generator/parts/users-service.h"
#include "libstart/base/paths.h"
#include "libstart/request/launch-option.h"
#include "libstart/request/userns-request.h"

/* What has been tried in a user's namespaces. All else is refused. */
static const char *const options[] = {
        "add-host",
        "annotation",
        "cap-add",
        "cap-drop",
        "detach",
        "device",
        "dns",
        "dns-option",
        "dns-search",
        "entrypoint",
        "env",
        "env-file",
        "env-host",
        "env-list",
        "gidmap",
        "group-add",
        "health-cmd",
        "health-interval",
        "health-log-destination",
        "health-max-log-count",
        "health-max-log-size",
        "health-on-failure",
        "health-retries",
        "health-start-period",
        "health-startup-cmd",
        "health-startup-interval",
        "health-startup-retries",
        "health-startup-success",
        "health-startup-timeout",
        "health-timeout",
        "hostname",
        "http-proxy",
        "image-unit",
        "image-volume",
        "init",
        "init-path",
        "interactive",
        "label",
        "log-driver",
        "log-opt",
        "mount",
        "name",
        "network",
        "network-id",
        "no-healthcheck",
        "no-hosts",
        "read-only",
        "read-only-tmpfs",
        "rootfs",
        "sdnotify",
        "secret",
        "security-opt",
        "shm-size",
        "state-dir",
        "stop-signal",
        "storage-opt",
        "subgidname",
        "subuidname",
        "sysctl",
        "systemd",
        "timing",
        "tmpfs",
        "tz",
        "uidmap",
        "ulimit",
        "umask",
        "untrusted-list",
        "user",
        "userns",
        "volume",
        "workdir",
        NULL,
};

static bool is_set(const LaunchArgs *args, const LaunchOption *option) {
        const void *field = launch_option_field(args, option);

        switch (option->kind) {
        case LAUNCH_OPTION_STRING:
                return *(char *const *) field;
        case LAUNCH_OPTION_LIST:
                return (*(GPtrArray *const *) field)->len > 0;
        case LAUNCH_OPTION_FLAG:
                return *(const LaunchFlag *) field == FLAG_TRUE;
        }
        g_assert_not_reached();
}

/* What it has from its pod, which is the user's. */
static bool is_pods(const Container *container, const char *value) {
        return container->pod && value &&
               (g_str_has_prefix(value, "ns:" PATH_POD "/") || g_str_has_prefix(value, PATH_POD "/"));
}

static const char *find_string(const LaunchArgs *args, const LaunchOption *option) {
        return option->kind == LAUNCH_OPTION_STRING ? *(char *const *) launch_option_field(args, option) : NULL;
}

/* What every container of a user's has anyway. */
static bool is_private(const LaunchArgs *args, const LaunchOption *option) {
        return g_strcmp0(find_string(args, option), "private") == 0;
}

/* What to write instead of what no user can have; NULL: it is not there yet. */
static const char *find_advice(const char *option) {
        static const struct {
                const char *option, *advice;
        } all[] = {
                { "device-cgroup-rule",
                  "means nothing for users, whose devices only their nodes' modes keep: remove it" },
                { "privileged",
                  "no user can give it all of the machine's devices: write what it needs of AddCapability=, AddDevice=, "
                  "Unmask=ALL, SeccompProfile=unconfined and SecurityLabelDisable=true, or the file for the system's "
                  "manager" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_str_equal(all[i].option, option))
                        return all[i].advice;
        return NULL;
}

static void refuse_options(Container *container) {
        for (size_t i = 0; i < n_launch_options; i++) {
                const LaunchOption *option = &launch_options[i];
                const char *name = option->name + strlen("--"), *advice = find_advice(name);

                if (option->help && is_set(container->args, option) && !g_strv_contains(options, name) &&
                    !is_private(container->args, option) && !is_pods(container, find_string(container->args, option)))
                        container_problem(container, option_rules_find_line(container, name),
                                          advice ? "%s (--%s)" :
                                                   "%s for containers of users' managers (--%s): remove it, or let "
                                                   "Podman run this one",
                                          advice ?: "is not there yet", name);
        }
}

/* What asks for it, where the file does not name it. */
static const UnitLine *find_network_line(Container *container) {
        const GArray *const lists[] = { container->network_wishes, container->published };
        const UnitLine *line = option_rules_find_line(container, "network");

        for (size_t i = 0; i < G_N_ELEMENTS(lists) && !line; i++)
                line = lists[i]->len > 0 ? g_array_index(lists[i], Noted, 0).line : NULL;
        return line;
}

static void refuse_network(Container *container) {
        const char *network = container->args->network;
        const UnitLine *line = find_network_line(container);

        if (network && g_str_has_prefix(network, "podman:"))
                container_problem(container, line,
                                  "no .container file here makes '%s', and Podman's containers are out of reach for "
                                  "those of users' managers: write a file for it, or let Podman run this one",
                                  network + strlen("podman:"));
        else if (network && g_str_has_prefix(network, "ns:") && !is_pods(container, network))
                container_problem(container, line,
                                  "a container of a user's manager enters no namespace by its path: write "
                                  "Network=NAME.container, Network=pasta, bridges, Network=host or Network=none");
}

/* What finds a namespace or its ids, but in the user's own. */
static bool is_of_users(const char *userns) {
        static const char *const modes[] = { "", "host", "nomap", "keep-id", "auto", NULL };
        g_auto(GStrv) parts = g_strsplit(userns, ":", 2);

        return !parts[0] || g_strv_contains(modes, parts[0]);
}

static bool has_host_ids(const GPtrArray *maps) {
        for (guint i = 0; i < maps->len; i++)
                if (strchr(maps->pdata[i], '@'))
                        return true;
        return false;
}

/* The manager's, of which the generator is a child. */
static bool is_hers(const char *name) {
        return !name || g_str_equal(name, "%u") || g_strcmp0(name, g_getenv("USER")) == 0;
}

/* Of a container or a pod. Returns false where there was one. */
static bool refuse_other_namespaces(Container *container) {
        const LaunchArgs *args = container->args;

        if (user_namespace_may_be_own(args) && g_str_has_prefix(args->network ?: "", "container:"))
                container_problem(container,
                                  option_rules_find_line(container, "userns") ?:
                                          option_rules_find_line(container, "uidmap"),
                                  "another container's network belongs to ids of its user's, and so this one has "
                                  "these: remove it, or put both into a pod (Pod=)");
        else if (!is_of_users(args->userns ?: ""))
                container_problem(container, option_rules_find_line(container, "userns"),
                                  "what a user's manager starts enters no namespace that is there: write "
                                  "UserNS=keep-id, UserNS=nomap or UserNS=auto, or put it into a pod (Pod=)");
        else if (has_host_ids(args->uidmaps) || has_host_ids(args->gidmaps))
                container_problem(container,
                                  option_rules_find_line(container,
                                                         has_host_ids(args->uidmaps) ? "uidmap" : "gidmap"),
                                  "an id of the machine's (@) is not there yet for users' managers: 0 is the user, "
                                  "and from 1 on come those of /etc/subuid and /etc/subgid");
        else if (!is_hers(args->subuidname) || !is_hers(args->subgidname))
                container_problem(
                        container,
                        option_rules_find_line(container, is_hers(args->subuidname) ? "subgidname" : "subuidname"),
                        "'%s': a user has no ids of others in /etc/subuid and /etc/subgid: write her own name",
                        is_hers(args->subuidname) ? args->subgidname : args->subuidname);
        else
                return true;
        return false;
}

/* What an image's copy is made for must be known. */
static void refuse_unknown_ids(Container *container) {
        const UnitLine *line = option_rules_find_line(container, "userns") ?:
                                       option_rules_find_line(container, "uidmap");
        g_autofree char *copier = user_namespace_copier(container);

        if (copier || container->args->rootfs == FLAG_TRUE)
                return;
        if (container->has_pods_ids ||
            (user_namespace_may_be_own(container->args) && !is_pods(container, container->args->userns)))
                container_problem(
                        container, line ?: container_line(container, "Container", "Pod"),
                        "a user's container with it has no variables in UserNS=, User=, Image= or ContainerName=, "
                        "nor specifiers in UserNS=: write it out");
}

static void refuse_user_namespace(Container *container) {
        if (is_pods(container, container->args->userns) || refuse_other_namespaces(container))
                refuse_unknown_ids(container);
}

static void refuse_values(Container *container) {
        const LaunchArgs *args = container->args;

        if (args->rootfs == FLAG_TRUE && g_str_has_suffix(args->image, ":idmap"))
                container_problem(container, container_line(container, "Container", "Rootfs"), "%s", ROOTFS_NO_IDMAP);
        refuse_network(container);
        refuse_user_namespace(container);
        if (args->log_driver && !g_str_equal(args->log_driver, "journald") &&
            !g_str_equal(args->log_driver, "passthrough") && !g_str_equal(args->log_driver, "none"))
                container_problem(
                        container, option_rules_find_line(container, "log-driver"),
                        "a container of a user's manager writes to the journal: write LogDriver=journald, passthrough or "
                        "none");
        if (launch_args_last(args->log_opt, "path"))
                container_problem(container, option_rules_find_line(container, "log-opt"),
                                  "a container of a user's manager writes to the journal: remove path=");
}

void users_container_check(Container *container) {
        if (!container->is_users && g_strcmp0(container->args->userns, "nomap") == 0)
                container_problem(container, option_rules_find_line(container, "userns"), USERNS_NO_MAP_OF_ROOT);
        if (!container->is_users)
                return;
        refuse_options(container);
        refuse_values(container);
        users_service_check(container);
}

/* Those of IPC would take a procfs that only a process of the pod could mount. */
static bool has_other_sysctls(const LaunchArgs *args) {
        for (guint i = 0; i < args->sysctls->len; i++)
                if (!g_str_has_prefix(args->sysctls->pdata[i], "net."))
                        return true;
        return false;
}

/* Its network belongs to its namespace, which is made before. */
static void refuse_unknown_maps(Container *pod) {
        g_autofree char *maker = user_namespace_service(pod);

        if (pod->network_file && !maker)
                container_problem(pod, option_rules_find_line(pod, "uidmap"),
                                  "a user's pod with it has no variables in its ids: write them out");
}

/* Its containers have one user namespace, so that what they share is theirs. */
void users_container_check_pod(Container *pod) {
        const LaunchArgs *args = pod->args;
        const UnitLine *early = container_line(pod, "Keyturn", "Early");

        if (!pod->is_users)
                return;
        if (refuse_other_namespaces(pod))
                refuse_unknown_maps(pod);
        if (has_other_sysctls(args))
                container_problem(pod, option_rules_find_line(pod, "sysctl"),
                                  "a pod of a user's manager has sysctls of its network alone (net.)");
        if (early)
                container_problem(pod, early, USERS_SERVICE_NOT_EARLY);
        if (pod_shares(pod, "net"))
                refuse_network(pod);
        if (g_str_has_prefix(args->network ?: "", "container:"))
                container_problem(pod, find_network_line(pod),
                                  "a pod of a user's manager has a network of its own: put that container into it "
                                  "(Pod= there), or leave out Network=");
}

void users_container_unit(const Container *container, Service *service) {
        if (!container->is_users)
                return;
        service_unit_first(service, "Wants", "keyturn-view.service");
        service_unit_first(service, "After", "keyturn-view.service");
}
