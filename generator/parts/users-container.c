/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/option-rules.h"
#include "generator/parts/pods.h"
#include "generator/parts/user-namespace.h"
#include "generator/parts/users-container.h"
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
static bool is_pods(const Conversion *container, const char *value) {
        return container->pod.file && value &&
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
                  "no user can give it all of the machine's devices: write what it needs of AddCapability=, "
                  "AddDevice=, Unmask=ALL, SeccompProfile=unconfined and SecurityLabelDisable=true, or the file for "
                  "the system's manager" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_str_equal(all[i].option, option))
                        return all[i].advice;
        return NULL;
}

static void refuse_options(Conversion *container) {
        for (size_t i = 0; i < n_launch_options; i++) {
                const LaunchOption *option = &launch_options[i];
                const char *name = option->name + strlen("--"), *advice = find_advice(name);

                if (option->help && is_set(container->args, option) && !g_strv_contains(options, name) &&
                    !is_private(container->args, option) && !is_pods(container, find_string(container->args, option)))
                        conversion_problem(container, option_rules_find_line(container, name),
                                           advice ? "%s (--%s)" :
                                                    "%s for containers of users' managers (--%s): remove it, or let "
                                                    "Podman run this one",
                                           advice ?: "is not there yet", name);
        }
}

/* What asks for it, where the file does not name it. */
static const UnitLine *find_network_line(Conversion *container) {
        const GArray *const lists[] = { container->network.wishes, container->network.published };
        const UnitLine *line = option_rules_find_line(container, "network");

        for (size_t i = 0; i < G_N_ELEMENTS(lists) && !line; i++)
                line = lists[i]->len > 0 ? g_array_index(lists[i], Noted, 0).line : NULL;
        return line;
}

static void refuse_network(Conversion *container) {
        const char *network = container->args->network;
        const UnitLine *line = find_network_line(container);

        if (network && g_str_has_prefix(network, "podman:"))
                conversion_problem(container, line,
                                   "no .container file here makes '%s', and Podman's containers are out of reach for "
                                   "those of users' managers: write a file for it, or let Podman run this one",
                                   network + strlen("podman:"));
        else if (network && g_str_has_prefix(network, "ns:") && !is_pods(container, network))
                conversion_problem(container, line,
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
static bool refuse_other_namespaces(Conversion *container) {
        const LaunchArgs *args = container->args;

        if (user_namespace_may_be_own(args) && g_str_has_prefix(args->network ?: "", "container:"))
                conversion_problem(container,
                                   option_rules_find_line(container, "userns") ?:
                                           option_rules_find_line(container, "uidmap"),
                                   "another container's network belongs to ids of its user's, and so this one has "
                                   "these: remove it, or put both into a pod (Pod=)");
        else if (!is_of_users(args->userns ?: ""))
                conversion_problem(container, option_rules_find_line(container, "userns"),
                                   "what a user's manager starts enters no namespace that is there: write "
                                   "UserNS=keep-id, UserNS=nomap or UserNS=auto, or put it into a pod (Pod=)");
        else if (has_host_ids(args->uidmaps) || has_host_ids(args->gidmaps))
                conversion_problem(container,
                                   option_rules_find_line(container,
                                                          has_host_ids(args->uidmaps) ? "uidmap" : "gidmap"),
                                   "an id of the machine's (@) is not there yet for users' managers: 0 is the user, "
                                   "and from 1 on come those of /etc/subuid and /etc/subgid");
        else if (!is_hers(args->subuidname) || !is_hers(args->subgidname))
                conversion_problem(
                        container,
                        option_rules_find_line(container, is_hers(args->subuidname) ? "subgidname" : "subuidname"),
                        "'%s': a user has no ids of others in /etc/subuid and /etc/subgid: write her own name",
                        is_hers(args->subuidname) ? args->subgidname : args->subuidname);
        else
                return true;
        return false;
}

/* What an image's copy is made for must be known. */
static void refuse_unknown_ids(Conversion *container) {
        static const char *const names[] = { "userns", "uidmap", "gidmap" };
        g_autofree char *copier = user_namespace_copier(container);
        const UnitLine *line = NULL;

        if (copier || !container->image.name)
                return;
        for (size_t i = 0; !line && i < G_N_ELEMENTS(names); i++)
                line = option_rules_find_line(container, names[i]);
        if (container->pod.has_ids ||
            (user_namespace_may_be_own(container->args) && !is_pods(container, container->args->userns)))
                conversion_problem(
                        container, line ?: conversion_line(container, "Container", "Pod"),
                        "a user's container with it has its image copied ahead, where variables and specifiers like "
                        "%%y are not known: write them out in UserNS=, UIDMap=, GIDMap=, User=, Image=, "
                        "ContainerName= and --storage-opt");
}

static void refuse_user_namespace(Conversion *container) {
        if (is_pods(container, container->args->userns) || refuse_other_namespaces(container))
                refuse_unknown_ids(container);
}

static void refuse_values(Conversion *container) {
        const LaunchArgs *args = container->args;

        if (args->rootfs == FLAG_TRUE && g_str_has_suffix(args->image, ":idmap"))
                conversion_problem(container, conversion_line(container, "Container", "Rootfs"), "%s",
                                   ROOTFS_NO_IDMAP);
        refuse_network(container);
        refuse_user_namespace(container);
        if (args->log_driver && !g_str_equal(args->log_driver, "journald") &&
            !g_str_equal(args->log_driver, "passthrough") && !g_str_equal(args->log_driver, "none"))
                conversion_problem(container, option_rules_find_line(container, "log-driver"),
                                   "a container of a user's manager writes to the journal: write LogDriver=journald, "
                                   "passthrough or none");
        if (launch_args_last(args->log_opt, "path"))
                conversion_problem(container, option_rules_find_line(container, "log-opt"),
                                   "a container of a user's manager writes to the journal: remove path=");
}

/* systemd itself starts a service without these, and says nothing, or fails with a step of its own. Limits are
 * kernel-control.h's. */
#define NOT_EARLY                                                                                                   \
        "users' managers start long after that: remove it, or write the file for the system's manager, with User= " \
        "in [Service]"
#define BY_ROOT \
        ", which only root's manager can have the kernel do: remove it, or write the file for the system's manager"
#define NO_FILTER "would filter nothing here" BY_ROOT ", with User= in [Service]; Network=none has no way out at all"

/* Those that systemd does by BPF programs, or with capabilities that a user's manager has not. */
static const struct {
        const char *section, *key, *advice;
} settings[] = {
        { "Keyturn", "Early", NOT_EARLY },
        { "Service", "AmbientCapabilities", "is for root's manager: write AddCapability= in [Container]" },
        { "Service", "BPFProgram", NO_FILTER },
        { "Service", "CapabilityBoundingSet", "is for root's manager: write DropCapability= in [Container]" },
        { "Service", "DeviceAllow",
          "would allow and forbid nothing here" BY_ROOT "; AddDevice= brings single nodes" },
        { "Service", "DevicePolicy", "would forbid nothing here" BY_ROOT "; AddDevice= brings single nodes" },
        { "Service", "IPAddressAllow", NO_FILTER },
        { "Service", "IPAddressDeny", NO_FILTER },
        { "Service", "IPEgressFilterPath", NO_FILTER },
        { "Service", "IPIngressFilterPath", NO_FILTER },
        { "Service", "PAMName", "is for root's manager: remove it" },
        { "Service", "RestrictFileSystems", "would restrict nothing here" BY_ROOT },
        { "Service", "RestrictNetworkInterfaces", NO_FILTER },
        { "Service", "SocketBindAllow", NO_FILTER },
        { "Service", "SocketBindDeny", NO_FILTER },
        { "Service", "SupplementaryGroups", "is for root's manager: write GroupAdd=keep-groups in [Container]" },
        { "Service", "StandardError", "is not there yet for users' managers but for journal and null: remove it" },
        { "Service", "StandardOutput", "is not there yet for users' managers but for journal and null: remove it" },
};

static void refuse_settings(Conversion *container) {
        static const char *const harmless[] = { "", "never", "journal", "null", "inherit", "auto", NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
                const UnitLine *line = conversion_line(container, settings[i].section, settings[i].key);

                /* Of that one, nothing is a set, too. */
                if (line &&
                    (!g_strv_contains(harmless, line->value) || g_str_equal(line->key, "CapabilityBoundingSet")))
                        conversion_problem(container, line, "%s", settings[i].advice);
        }
}

void users_container_check(Conversion *container) {
        if (!container->is_users && g_strcmp0(container->args->userns, "nomap") == 0)
                conversion_problem(container, option_rules_find_line(container, "userns"), USERNS_NO_MAP_OF_ROOT);
        if (!container->is_users)
                return;
        refuse_options(container);
        refuse_values(container);
        refuse_settings(container);
}

/* Those of IPC would take a procfs that only a process of the pod could mount. */
static bool has_other_sysctls(const LaunchArgs *args) {
        for (guint i = 0; i < args->sysctls->len; i++)
                if (!g_str_has_prefix(args->sysctls->pdata[i], "net."))
                        return true;
        return false;
}

/* Its network belongs to its namespace, which is made before. */
static void refuse_unknown_maps(Conversion *pod) {
        g_autofree char *maker = user_namespace_service(pod);

        if (pod->network.file && !maker)
                conversion_problem(pod, option_rules_find_line(pod, "uidmap"),
                                   "a user's pod with it has no variables in its ids: write them out");
}

/* Its containers have one user namespace, so that what they share is theirs. */
void users_container_check_pod(Conversion *pod) {
        const LaunchArgs *args = pod->args;
        const UnitLine *early = conversion_line(pod, "Keyturn", "Early");

        if (!pod->is_users)
                return;
        if (refuse_other_namespaces(pod))
                refuse_unknown_maps(pod);
        if (has_other_sysctls(args))
                conversion_problem(pod, option_rules_find_line(pod, "sysctl"),
                                   "a pod of a user's manager has sysctls of its network alone (net.)");
        if (early)
                conversion_problem(pod, early, NOT_EARLY);
        if (pod_shares(pod, "net"))
                refuse_network(pod);
        if (g_str_has_prefix(args->network ?: "", "container:"))
                conversion_problem(pod, find_network_line(pod),
                                   "a pod of a user's manager has a network of its own: put that container into it "
                                   "(Pod= there), or leave out Network=");
}

void users_container_unit(const Conversion *container, Service *service) {
        if (!container->is_users)
                return;
        service_unit_first(service, "Wants", "keyturn-view.service");
        service_unit_first(service, "After", "keyturn-view.service");
}
