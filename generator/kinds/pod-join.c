/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/kinds/pod-join.h"
#include "generator/kinds/resource.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/option-rules.h"
#include "generator/parts/pods.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/own-name.h"
#include "libstart/base/paths.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/capability.h"
#include "libstart/value/names.h"

/*
 * What a container in a pod does not say itself
 */

typedef enum Belongs {
        TO_POD,     /* whatever it shares */
        TO_UTS,     /* if it shares that */
        TO_NETWORK, /* if the container has the pod's */
} Belongs;

/* Podman refuses the same. */
static const struct {
        const char *key, *option;
        Belongs belongs;
} refused[] = {
        { "AddHost", "add-host", TO_NETWORK },
        { "GIDMap", "gidmap", TO_POD },
        { "HostName", "hostname", TO_UTS },
        { "IP", "ip", TO_NETWORK },
        { "IP6", "ip6", TO_NETWORK },
        { "NetworkAlias", "network-alias", TO_NETWORK },
        { "PublishPort", "publish", TO_NETWORK },
        { "RemapGid", NULL, TO_POD },
        { "RemapUid", NULL, TO_POD },
        { "RemapUsers", NULL, TO_POD },
        { "SubGIDMap", "subgidname", TO_POD },
        { "SubUIDMap", "subuidname", TO_POD },
        { "UIDMap", "uidmap", TO_POD },
        { "UserNS", "userns", TO_POD },
};

static const UnitLine *find_given(const Conversion *container, const char *key, const char *option) {
        const UnitLine *line = conversion_line(container, "Container", key);

        if (line && line->value[0])
                return line;
        return option ? option_rules_find_podman_line(container, option) : NULL;
}

static void refuse_keys(Conversion *container, const Conversion *pod, bool pods_network) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                const UnitLine *line = find_given(container, refused[i].key, refused[i].option);
                bool applies = refused[i].belongs == TO_POD ||
                               (refused[i].belongs == TO_UTS ? pod_shares(pod, "uts") : pods_network);

                if (line && applies)
                        conversion_problem(container, line,
                                           "the containers of a pod have this in common: write %s= in %s",
                                           refused[i].key, pod->source->name);
        }
}

/* Podman says nothing. */
static void ignore(Conversion *container, const Conversion *pod, const char *key, const char *option) {
        const UnitLine *line = find_given(container, key, option);

        if (line)
                conversion_warning(container, line, "%s= of %s counts, ignoring", key, pod->source->name);
}

/*
 * What it has from its pod
 */

static bool has_volume(const GPtrArray *volumes, const char *path) {
        for (guint i = 0; i < volumes->len; i++) {
                g_autoptr(MountRequest) volume = mount_request_sketch_volume(volumes->pdata[i]);

                if (g_str_equal(volume->destination, path))
                        return true;
        }
        return false;
}

/* DESTINATION[:OPTIONS] */
static bool has_tmpfs(const GPtrArray *tmpfs, const char *path) {
        for (guint i = 0; i < tmpfs->len; i++)
                if (g_str_has_prefix(tmpfs->pdata[i], path) && strcspn(tmpfs->pdata[i], ":") == strlen(path))
                        return true;
        return false;
}

static bool is_mounted(const LaunchArgs *args, const char *path) {
        for (guint i = 0; i < args->mounts->len; i++) {
                g_autoptr(MountRequest) mount = mount_request_parse_mount(args->mounts->pdata[i], NULL);

                if (mount && g_strcmp0(mount->destination, path) == 0)
                        return true;
        }
        return has_volume(args->volumes, path) || has_tmpfs(args->tmpfs, path);
}

/* Its own mounts count where it has both. In its unit, specifiers must mean the pod, whose file has them. */
static void take_volumes(LaunchArgs *args, const Conversion *pod) {
        for (guint i = 0; i < pod->args->volumes->len; i++) {
                g_autofree char *volume = own_name_replace_of(pod->service->name, pod->args->volumes->pdata[i]);
                g_autoptr(MountRequest) mount = mount_request_sketch_volume(volume);

                if (!is_mounted(args, mount->destination))
                        g_ptr_array_add(args->volumes, g_steal_pointer(&volume));
        }
}

/* Those of a .volume file with Driver=image. */
static void take_mounts(LaunchArgs *args, const Conversion *pod) {
        for (guint i = 0; i < pod->args->mounts->len; i++) {
                g_autofree char *text = own_name_replace_of(pod->service->name, pod->args->mounts->pdata[i]);
                g_autoptr(MountRequest) mount = mount_request_parse_mount(text, NULL);

                if (!mount || !is_mounted(args, mount->destination))
                        g_ptr_array_add(args->mounts, g_steal_pointer(&text));
        }
}

/* Before its own, so that those count. */
static void take_first(GPtrArray *list, const GPtrArray *pods, const Conversion *pod) {
        for (guint i = 0; i < pods->len; i++)
                g_ptr_array_insert(list, (int) i, own_name_replace_of(pod->service->name, pods->pdata[i]));
}

static void replace(GPtrArray *list, const GPtrArray *pods, const Conversion *pod) {
        g_ptr_array_set_size(list, 0);
        take_first(list, pods, pod);
}

/* Or the pod is no template. */
static bool is_instance_known(const Conversion *container) {
        return !strchr(container->pod.service, '%');
}

/* The unit of a pod's template names no container that is in one of its instances only. */
static void start_with_instance(Conversion *container) {
        const char *service = container->service->name;

        if (name_is_template(container->pod.file->name) && is_instance_known(container) &&
            !name_is_template(service) && pod_starts(container->source))
                service_link(container->service, g_strconcat(container->pod.service, ".wants/", service, NULL),
                             service);
}

static void join_units(Conversion *container, const Conversion *pod) {
        g_autofree char *stem = pod_stem(pod->service->name);
        g_autofree char *users = g_strdup_printf("keyturn-pod@%s.target", stem);

        service_unit(container->service, "BindsTo", pod->service->name);
        service_unit(container->service, "After", pod->service->name);
        start_with_instance(container);
        if (!pod->pod.stays) /* it stops the pod when nobody wants it any more */
                service_unit(container->service, "Wants", users);
}

static void join_namespaces(Conversion *container, const Conversion *pod, const char *directory) {
        LaunchArgs *args = container->args;
        g_autofree char *userns = pod_user_namespace(pod);

        if (userns) {
                g_free(args->userns);
                args->userns = g_strdup_printf("ns:%s/%s", directory, userns);
                container->pod.has_ids = user_namespace_may_be_own(pod->args);
        }
        if (pod_shares(pod, "uts") && !args->uts)
                args->uts = g_strdup_printf("ns:%s/uts", directory);
        if (!pod_shares(pod, "ipc") || args->ipc)
                return;
        args->ipc = g_strdup_printf("ns:%s/ipc", directory);
        args->shm_path = g_strdup_printf("%s/shm", directory);
        if (args->shm_size)
                ignore(container, pod, "ShmSize", "shm-size");
        g_clear_pointer(&args->shm_size, g_free);
}

/* In a network that only they share, they are to be found by their names there. */
static void name_members(Conversion *container, const Conversion *pod) {
        g_autoptr(GPtrArray) names = pod_find_names(pod);

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *entry = g_strconcat(names->pdata[i], ":127.0.0.1", NULL);

                if (name_is_host(names->pdata[i]))
                        g_ptr_array_add(container->args->add_hosts, g_steal_pointer(&entry));
        }
}

/* The image's /etc/hosts stays, or the one that the container brings itself. */
static void drop_hosts(LaunchArgs *args) {
        if (args->no_hosts == FLAG_TRUE || is_mounted(args, "/etc/hosts") || is_mounted(args, "/etc"))
                g_ptr_array_set_size(args->add_hosts, 0);
}

/* Whose it is the pod has seen to. Transfer full. */
static char *find_network(const Conversion *pod) {
        const char *network = pod->args->network, *owned = "owned:";

        return g_str_has_prefix(network, owned) ? g_strconcat("pinned:", network + strlen(owned), NULL) :
                                                  g_strdup(network);
}

/* Only systemd knows the ids of an instance's pod, at its start: so the network is the host's (network-unit.c). */
static void check_capabilities(Conversion *container, const Conversion *pod) {
        const guint64 ports = G_GUINT64_CONSTANT(1) << CAP_NET_BIND_SERVICE;
        const LaunchArgs *args = container->args;

        if (!user_namespace_may_be_own(pod->args) || !g_str_has_prefix(pod->args->network, "pinned:"))
                return;
        if (args->privileged == FLAG_TRUE || network_capabilities(args->cap_add) & CAPABILITY_NETWORK)
                conversion_problem(
                        container, conversion_line(container, "Container", "AddCapability"),
                        "NET_ADMIN and NET_RAW have no effect on the network of a pod whose ids only systemd "
                        "knows: remove them, or UserNS= and its like of %s, or write a pod for each instance",
                        pod->source->name);
        if (network_capabilities(args->cap_drop) & ~network_capabilities(args->cap_add) & ports)
                conversion_problem(
                        container, conversion_line(container, "Container", "DropCapability"),
                        "without NET_BIND_SERVICE it could still bind all ports in the network of a pod whose "
                        "ids only systemd knows: remove UserNS= and its like of %s, or write a pod for each "
                        "instance",
                        pod->source->name);
}

static void join_network(Conversion *container, const Conversion *pod, const char *directory) {
        LaunchArgs *args = container->args;
        bool none = g_str_equal(pod->args->network, "none");

        if (args->dns->len + args->dns_search->len + args->dns_option->len > 0) {
                ignore(container, pod, "DNS", "dns");
                ignore(container, pod, "DNSSearch", "dns-search");
                ignore(container, pod, "DNSOption", "dns-option");
        }
        check_capabilities(container, pod);
        args->network = none ? g_strdup_printf("ns:%s/net", directory) : find_network(pod);
        replace(args->add_hosts, pod->args->add_hosts, pod);
        replace(args->dns, pod->args->dns, pod);
        replace(args->dns_search, pod->args->dns_search, pod);
        replace(args->dns_option, pod->args->dns_option, pod);
        if (none) /* nobody is to be asked, and the image's file stays */
                g_ptr_array_add(args->dns, g_strdup("none"));
        g_array_set_size(container->network.published, 0); /* is refused */
        g_array_set_size(container->network.wishes, 0);
        if (none || pod->network.file)
                name_members(container, pod);
        drop_hosts(args);
}

/* basic.target is before the one and after the other. */
static void check_early(Conversion *container, const Conversion *pod) {
        if (container->is_early && !pod->is_early)
                conversion_problem(container, conversion_line(container, "Keyturn", "Early"),
                                   "its pod does not start early: write Early=yes in [Keyturn] of %s, too",
                                   pod->source->name);
}

/* "app@one.container" for "web@one.pod". Transfer full. */
static char *find_own_file(const Conversion *container, const char *pod_file) {
        const char *instance = strchr(pod_file, '@') + 1;
        g_autofree char *name = g_strndup(instance, strlen(instance) - strlen(".pod"));

        return name_instance(container->source->name, name);
}

static bool is_there(const UnitNames *names, const char *file_name) {
        const GPtrArray *files = unit_names_files(names);

        for (guint i = 0; i < files->len; i++)
                if (g_str_equal(((const SourceFile *) files->pdata[i])->name, file_name))
                        return true;
        return false;
}

/* The unit of a template has what the pod's template says: in the pod of one instance it could lack a user
 * namespace. */
static void check_instances(Conversion *container, const UnitLine *line) {
        const GPtrArray *files = unit_names_files(container->names);

        for (guint i = 0; i < files->len && !is_instance_known(container); i++) {
                const SourceFile *file = files->pdata[i];
                g_autofree char *template = name_template_of(file->name), *own = NULL;

                if (file->is_masked || g_strcmp0(template, container->pod.file->name) != 0)
                        continue;
                own = find_own_file(container, file->name);
                if (!is_there(container->names, own))
                        conversion_problem(
                                container, line,
                                "'%s' is one instance's own pod, which this file cannot know: make '%s', a "
                                "link to this file will do",
                                file->name, own);
        }
}

void pod_join(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Container", "Pod");
        g_autoptr(Conversion) pod = NULL;
        g_autofree char *stem = NULL, *directory = NULL;
        bool pods_network;

        if (!container->pod.file || !container->pod.file->unit)
                return;
        pod = pod_convert(container->pod.file, g_strdup(container->pod.service), container->names, container->conf);
        if (pod->is_refused) {
                conversion_problem(container, line, "'%s' is refused, and so are its containers", pod->source->name);
                return;
        }
        container->source->unit->readers &= container->pod.file->unit->readers; /* of what its unit has from there */
        check_instances(container, line);
        stem = pod_stem(pod->service->name);
        directory = g_build_filename(PATH_POD, stem, NULL);
        pods_network = pod_shares(pod, "net") && !container->network.is_said && !container->args->network;
        check_early(container, pod);
        refuse_keys(container, pod, pods_network);
        join_units(container, pod);
        join_namespaces(container, pod, directory);
        take_volumes(container->args, pod);
        take_mounts(container->args, pod);
        take_first(container->args->security_opt, pod->args->security_opt, pod);
        if (pods_network)
                join_network(container, pod, directory);
}
