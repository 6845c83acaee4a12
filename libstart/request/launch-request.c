/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/device-request.h"
#include "libstart/request/device-rule.h"
#include "libstart/request/launch-option.h"
#include "libstart/request/launch-request.h"
#include "libstart/request/mount-request.h"
#include "libstart/request/runtime-rules.h"
#include "libstart/request/secret-request.h"
#include "libstart/value/capability.h"
#include "libstart/value/id-map.h"
#include "libstart/value/sysctl.h"
#include "libstart/value/ulimit.h"
#include "libstart/value/unit-words.h"
#include "libstart/value/user-spec.h"

static void copy_value(const LaunchArgs *args, ContainerRequest *request, const LaunchOption *option) {
        void *copy = (char *) request + option->kept;

        if (option->kind != LAUNCH_OPTION_FLAG)
                memcpy(copy, launch_option_field(args, option), sizeof(void *));
        else if (*(LaunchFlag *) launch_option_field(args, option) != FLAG_UNSET)
                *(bool *) copy = *(LaunchFlag *) launch_option_field(args, option) == FLAG_TRUE;
}

/* reads: which values; NULL: all. */
static bool read_option(const LaunchArgs *args, ContainerRequest *request, const LaunchOption *option,
                        bool (*reads)(const char *value), GError **error) {
        if (option->kept != LAUNCH_OPTION_NOT_KEPT)
                copy_value(args, request, option);
        if (option->kind == LAUNCH_OPTION_STRING) {
                const char *value = *(char **) launch_option_field(args, option);

                return !value || (reads && !reads(value)) || launch_option_read(option, request, value, error);
        }

        const GPtrArray *list = option->kind == LAUNCH_OPTION_LIST ?
                                        *(GPtrArray **) launch_option_field(args, option) :
                                        NULL;
        for (guint i = 0; list && i < list->len; i++)
                if ((!reads || reads(list->pdata[i])) && !launch_option_read(option, request, list->pdata[i], error))
                        return false;
        return true;
}

/* Always false. */
static bool conflict(LaunchConflict *ret, const char *option, const char *other, GError **error,
                     const char *message) {
        *ret = (LaunchConflict) { .option = option, .other = other };
        return error_set(error, KT_ERROR_USAGE, "--%s: %s", option, message);
}

/* The same of an error that is set, and of one value of the option; NULL: of all. */
static bool name_conflict(LaunchConflict *ret, const char *option, const char *value, const char *other,
                          GError **error) {
        *ret = (LaunchConflict) { .option = option, .value = value, .other = other };
        return error_prefix(error, "--%s: ", option);
}

static const char *find_mount_option(const LaunchArgs *args, const MountRequest *mount) {
        return g_ptr_array_find(args->volumes, mount->text, NULL) ? "volume" :
               g_ptr_array_find(args->mounts, mount->text, NULL)  ? "mount" :
                                                                    "tmpfs";
}

static bool name_mount(const LaunchArgs *args, const MountRequest *mount, LaunchConflict *ret, const char *other,
                       GError **error) {
        return name_conflict(ret, find_mount_option(args, mount), mount->text, other, error);
}

static const char *find_sysctl(const LaunchArgs *args, const char *name) {
        for (guint i = 0; i < args->sysctls->len; i++)
                if (g_str_has_prefix(args->sysctls->pdata[i], name))
                        return args->sysctls->pdata[i];
        return NULL;
}

/* The value of --cap-drop that --cap-add has, too. */
static const char *find_added(const LaunchArgs *args, const ContainerRequest *request) {
        for (guint i = 0; i < args->cap_drop->len; i++) {
                guint64 mask = 0;

                if (capability_add(args->cap_drop->pdata[i], &mask, NULL) && mask & request->cap_added)
                        return args->cap_drop->pdata[i];
        }
        return NULL;
}

/* Whose namespace is not the container's own. A network that is made ahead has its parameters since then. */
static bool check_sysctls(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                          GError **error) {
        NetworkMode network = request->network.mode;

        for (guint i = 0; i < request->sysctls->len; i++) {
                const Sysctl *sysctl = request->sysctls->pdata[i];
                bool is_networks = sysctl->ns == SYSCTL_NETWORK;

                if (is_networks ? network != NETWORK_HOST && network != NETWORK_PINNED : !request->ipc.host)
                        continue;
                error_set(
                        error, KT_ERROR_USAGE,
                        !is_networks ?
                                "with --ipc=host '%s' is the whole machine's: set it with sysctl.d(5)" :
                        network == NETWORK_HOST ?
                                "with --network=host '%s' is the whole machine's: set it with sysctl.d(5), or "
                                "write Network=none or bridge" :
                                "'%s' is the network's, which others have, too: give it to who makes that, as a pod "
                                "(PodmanArgs=--sysctl=)",
                        sysctl->name);
                return name_conflict(ret, "sysctl", find_sysctl(args, sysctl->name), is_networks ? "network" : "ipc",
                                     error);
        }
        return true;
}

/* Namespaces of the machine's, and what can only be said of a container's own. Podman's rules, but the last: there a
 * user namespace sees the machine's whole /proc. */
static bool check_host_namespaces(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                                  GError **error) {
        if (request->pid.host && request->init)
                return conflict(ret, "init", "pid", error, "with --pid=host another program is the first process");
        if (!check_sysctls(args, request, ret, error))
                return false;
        return !(request->pid.host || request->ipc.host) || request->userns.mode == USERNS_HOST ||
               conflict(ret, request->pid.host ? "pid" : "ipc", "userns", error,
                        "'host' is not supported with a user namespace: leave out one of the two");
}

static bool check_privileged(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        if (!request->privileged || (!request->userns.owner && !request->userns.is_dynamic))
                return true;
        return conflict(ret, "privileged", request->userns.owner ? "owner" : "dynamic-user", error,
                        "no devices are given to a container that belongs to a user or to nobody: name them in "
                        "AddDevice=, and the capabilities in AddCapability=");
}

/* Whose, of what, and that the files there have the container's ids as they are. */
static bool check_store(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        const UsernsRequest *userns = &request->userns;

        if (!request->users_store)
                return true;
        if (request->rootfs)
                return conflict(ret, "store", "rootfs", error, "a root directory is in no store: leave it out");
        if (request->image_unit)
                return conflict(ret, "store", "image-unit", error,
                                "a unit brings the image into the system's store, and the user's would hide it");
        if (userns->is_dynamic)
                return conflict(ret, "store", "dynamic-user", error, "nobody has no store: leave it out");
        if (!userns->owner)
                return conflict(
                        ret, "store", "owner", error,
                        "which user's store is meant? Say whom the container belongs to (User= in [Service])");
        if (strchr(userns->owner, ':'))
                return conflict(ret, "store", "owner", error,
                                "the files in a user's store have her own group: leave Group= in [Service] out");
        return userns->mode == USERNS_OWNED ||
               conflict(ret, "store", "userns", error,
                        "the files in a user's store are hers, which only root of the container is then: leave "
                        "UserNS= out, or have the image in the system's store");
}

/* What libstart would do as root where the user may put something else. */
static bool check_owner(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                        GError **error) {
        if (!request->userns.owner)
                return true;
        for (guint i = 0; i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];

                if (mount->type != MOUNT_BIND || !mount->chown)
                        continue;
                error_set(error, KT_ERROR_USAGE,
                          "'U' would give a directory of the host away, which root would have to do: make it the "
                          "user's, by chown or tmpfiles.d(5)");
                return name_mount(args, mount, ret, "owner", error);
        }
        if (request->id_file)
                return conflict(ret, "cidfile", "owner", error, "a container that belongs to a user writes no file");
        if (request->log_path)
                return conflict(ret, "log-opt", "owner", error,
                                "a container that belongs to a user writes no file: leave path= out");
        return !args->health_log_destination || args->health_log_destination[0] != '/' ||
               conflict(ret, "health-log-destination", "owner", error,
                        "a container that belongs to a user writes no file: the journal has the results");
}

/* Its ids are others the next time, so what has them must not stay. A new volume is filled with the ids of its first
 * container, which idmap would not undo. */
static bool is_left_behind(const MountRequest *mount) {
        if (mount->overlay || mount->chown || mount_request_has_option(mount, "ro"))
                return false;
        return mount->type == MOUNT_VOLUME ?
                       !mount_request_is_anonymous(mount) :
                       (mount->type == MOUNT_BIND && !mount->id_map) || mount->type == MOUNT_GLOB;
}

static bool check_dynamic(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                          GError **error) {
        if (!request->userns.is_dynamic)
                return true;
        for (guint i = 0; i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];

                if (!is_left_behind(mount))
                        continue;
                error_set(error, KT_ERROR_USAGE,
                          "what a container with DynamicUser= writes to '%s' has ids that nobody has the next time: "
                          "say U, O or ro; for a directory of the host, idmap",
                          mount->destination);
                return name_mount(args, mount, ret, "dynamic-user", error);
        }
        if (request->image_volumes == IMAGE_VOLUMES_KEPT)
                return conflict(ret, "image-volume", "dynamic-user", error,
                                "a container with DynamicUser= keeps nothing: name the volume, with U");
        return !request->rootfs || strchr(request->image, ':') ||
               conflict(ret, "rootfs", "dynamic-user", error,
                        "what a container with DynamicUser= writes there has ids that nobody has the next time: put "
                        ":O or :idmap behind it");
}

/* No check at all is fine: the image may have one. */
static bool check_health(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        const HealthRequest *health = &request->health;

        if (health->off && health->regular.command)
                return conflict(ret, "health-cmd", "no-healthcheck", error,
                                "--no-healthcheck is given, too: leave out one of the two");
        if (!health->off && !health->is_none)
                return true;
        if (health->startup.command)
                return conflict(ret, "health-startup-cmd", "health-cmd", error,
                                "there is no regular check that it would be followed by: set HealthCmd=");
        return request->notify != NOTIFY_HEALTHY ||
               conflict(ret, "sdnotify", "health-cmd", error,
                        "there is no health check that would succeed: set HealthCmd=");
}

static bool check_runtime(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                          GError **error) {
        const char *option;

        return !request->runtime || runtime_rules_check(args, request, &option, error) ||
               name_conflict(ret, option, NULL, "runtime-program", error);
}

/* It would be left out without a word. */
static bool check_init(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        return !request->init_path || request->init ||
               conflict(ret, "init-path", "init", error,
                        "no init is asked for, which that would be: say --init (RunInit=true), too");
}

static bool check_names(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        const char *dns;

        if ((request->uts.path || request->uts.host) && request->hostname)
                return conflict(ret, "hostname", "uts", error,
                                "the host name is that of the namespace which --uts names");
        if (request->no_hosts && request->hosts->len > 0)
                return conflict(ret, "add-host", "no-hosts", error,
                                "with --no-hosts the file is the image's: leave out one of the two");
        return dns_request_check(&request->dns, request->network.mode, &dns, error) ||
               name_conflict(ret, dns, NULL, "network", error);
}

static bool check_together(const LaunchArgs *args, ContainerRequest *request, LaunchConflict *ret, GError **error) {
        if ((request->shm_path || request->ipc.host) && request->shm_size >= 0)
                return conflict(ret, "shm-size", request->shm_path ? "shm-path" : "ipc", error,
                                request->shm_path ? "--shm-path names a /dev/shm that there is" :
                                                    "--ipc=host means a /dev/shm that there is");
        if (request->log_path && request->log_driver != LOG_DRIVER_JOURNALD)
                return conflict(ret, "log-opt", "log-driver", error,
                                "path= needs the relay, which writes the file: leave the driver out");
        if (request->host_limits && args->ulimits->len > 1)
                return conflict(ret, "ulimit", "ulimit", error, "'host' excludes other ulimits");
        if (request->keep_groups && request->groups->len > 0)
                return conflict(ret, "group-add", "group-add", error, USER_SPEC_KEEP_GROUPS " excludes other groups");
        if (!bounding_set_check(request->cap_added, request->cap_dropped, error))
                return name_conflict(ret, "cap-drop", find_added(args, request), "cap-add", error);
        if (!userns_request_choose(&request->userns, error))
                return name_conflict(ret, "userns", NULL, args->uidmaps->len > 0 ? "uidmap" : "owner", error);
        return check_owner(args, request, ret, error) && check_store(request, ret, error) &&
               check_dynamic(args, request, ret, error) && check_names(request, ret, error) &&
               check_health(request, ret, error) && check_init(request, ret, error) &&
               check_privileged(request, ret, error) && check_host_namespaces(args, request, ret, error) &&
               check_runtime(args, request, ret, error);
}

static void request_init(const LaunchArgs *args, ContainerRequest *ret) {
        *ret = (ContainerRequest) {
                .image = args->image,
                .command = args->command,
                .http_proxy = true,
                .read_only_tmpfs = true,
                .groups = g_ptr_array_new_with_free_func(g_free),
                .mounts = g_ptr_array_new_with_free_func((GDestroyNotify) mount_request_free),
                .devices = g_ptr_array_new_with_free_func((GDestroyNotify) device_request_free),
                .device_rules = g_array_new(FALSE, FALSE, sizeof(DeviceRule)),
                .secrets = g_ptr_array_new_with_free_func((GDestroyNotify) secret_request_free),
                .shm_size = -1,
                .umask = 0022,
                .hosts = g_string_new(NULL),
                .masked = g_ptr_array_new_with_free_func(g_free),
                .unmasked = g_ptr_array_new_with_free_func(g_free),
                .ulimits = g_array_new(FALSE, FALSE, sizeof(Ulimit)),
                .sysctls = g_ptr_array_new_with_free_func((GDestroyNotify) sysctl_free),
        };
        health_request_init(&ret->health);
}

/* What DynamicUser= implies for systemd; and what Podman makes of options for which it asks nobody: SELinux keeps a
 * container with a label of its own from the machine's processes and their shared memory, so one that is to have
 * these has none. */
static void complete(ContainerRequest *request) {
        request->no_new_privileges |= request->userns.is_dynamic;
        request->userns.is_programs = request->runtime;
        request->unconfined |= request->privileged && !request->seccomp_profile;
        request->label.disable |= request->pid.host || request->ipc.host ||
                                  (request->privileged && !label_request_has_parts(&request->label));
        request->health.off |= request->health.is_none;
        if (request->ipc.host)
                request->shm_path = "/dev/shm";
}

static bool read_all(const LaunchArgs *args, bool (*reads)(const char *value), ContainerRequest *request,
                     LaunchConflict *ret, GError **error) {
        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].help && !read_option(args, request, &launch_options[i], reads, error)) {
                        ret->option = launch_options[i].name + strlen("--");
                        return false;
                }
        return check_together(args, request, ret, error);
}

static bool is_complete(const char *value) {
        return !unit_word_is_unexpanded(value);
}

/*
 * What a start finds out where it is at work, by the same functions, and is known before
 */

static bool are_complete(const GPtrArray *values) {
        for (guint i = 0; i < values->len; i++)
                if (!is_complete(values->pdata[i]))
                        return false;
        return true;
}

/* Not what a pattern or an artifact becomes, which has places of its own, and not what need not be a mount. */
static bool has_place(const MountRequest *mount) {
        return mount->type != MOUNT_GLOB && mount->type != MOUNT_ARTIFACT && !mount_request_is_anonymous(mount);
}

/* NULL: none of the first n is in its way. */
static const MountRequest *find_in_the_way(const GPtrArray *mounts, guint n, const MountRequest *mount,
                                           GError **error) {
        for (guint i = 0; i < n; i++) {
                const MountRequest *other = mounts->pdata[i];

                if (has_place(other) && !mount_request_check_beside(mount, other, error))
                        return other;
        }
        return NULL;
}

/* In a directory that is the container's root, what a key asks for is mounted itself, over other mounts. */
static bool check_hidden(const ContainerRequest *request, const MountRequest *mount, const char **ret_asking,
                         GError **error) {
        static const char *const files[][2] = { { "/etc/hosts", "add-host" },
                                                { "/etc/resolv.conf", "dns" },
                                                { "/etc/localtime", "tz" } };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                if (container_request_find_key(request, files[i][0]) &&
                    (request->rootfs ? g_str_equal(mount->destination, files[i][0]) :
                                       path_value_covers(mount->destination, files[i][0])) &&
                    !mount_request_has_option(mount, "tmpcopyup")) {
                        *ret_asking = files[i][1];
                        return container_request_refuse_hidden(request, mount->destination, files[i][0], error);
                }
        return true;
}

static bool check_secrets(const ContainerRequest *request, const MountRequest *mount, const char **ret_asking,
                          GError **error) {
        *ret_asking = "secret";
        for (guint i = 0; i < request->secrets->len; i++) {
                const SecretRequest *secret = request->secrets->pdata[i];

                if (!secret->is_variable &&
                    (mount_request_is_shared(mount) || g_str_equal(secret->target, mount->destination)))
                        return secret_request_refuse_beside(secret->target, mount->destination, error);
        }
        return true;
}

static bool check_mounts(const LaunchArgs *args, const ContainerRequest *request, bool has_userns,
                         LaunchConflict *ret, GError **error) {
        for (guint i = 0; i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i], *other;
                const char *asking = "userns";

                if (!has_place(mount))
                        continue;
                other = find_in_the_way(request->mounts, i, mount, error);
                if (other)
                        return name_mount(args, mount, ret, find_mount_option(args, other), error);
                if (!mount_request_check_id_map(mount, has_userns, error) ||
                    !check_hidden(request, mount, &asking, error) || !check_secrets(request, mount, &asking, error))
                        return name_mount(args, mount, ret, asking, error);
        }
        return true;
}

static void map_first(GArray **map, guint32 size) {
        const IdExtent all = { 0, 0, size };

        if (!*map)
                *map = id_map_new();
        g_array_append_val(*map, all);
}

/* Are all ids of the user namespace known? Then its maps have them, not finished (id-map.h). */
static bool find_ids(const LaunchArgs *args, UsernsRequest *userns) {
        if (userns->mode == USERNS_AUTO && userns->size > 0) {
                map_first(&userns->uids, userns->size);
                map_first(&userns->gids, userns->size);
                return true;
        }
        return userns->mode == USERNS_MAPPED && !userns->subuid && !userns->subgid && are_complete(args->uidmaps) &&
               are_complete(args->gidmaps) && userns_request_finish(userns, NULL);
}

/* Names are the image's. */
static bool check_id(const GArray *map, const char *id, const char *what, GError **error) {
        bool is_number;
        guint32 number;

        return !id || !user_spec_parse_id(id, &is_number, &number, NULL) || !is_number ||
               userns_request_check_id(map, number, what, error);
}

static bool check_payload(const LaunchArgs *args, ContainerRequest *request, LaunchConflict *ret, GError **error) {
        UsernsRequest *userns = &request->userns;
        const char *group = request->user ? strchr(request->user, ':') : NULL, *other;
        g_autofree char *user = NULL;

        other = userns->mode == USERNS_AUTO ? "userns" : args->uidmaps->len > 0 ? "uidmap" : "gidmap";
        if (!find_ids(args, userns))
                return true;
        for (guint i = 0; i < request->groups->len; i++)
                if (!check_id(userns->gids, request->groups->pdata[i], "group", error))
                        return name_conflict(ret, "group-add", NULL, other, error);
        user = group ? g_strndup(request->user, (gsize) (group - request->user)) : g_strdup(request->user);
        if (!check_id(userns->uids, user, "user", error))
                return name_conflict(ret, "user", request->user, other, error);
        return check_id(userns->gids, group ? group + 1 : NULL, "group", error) ||
               name_conflict(ret, "user", group + 1, other, error);
}

static bool check_ahead(const LaunchArgs *args, ContainerRequest *request, bool is_users, LaunchConflict *ret,
                        GError **error) {
        bool has_userns = is_users || request->userns.mode != USERNS_HOST || !is_complete(args->userns ?: "");

        return check_mounts(args, request, has_userns, ret, error) && check_payload(args, request, ret, error);
}

bool launch_args_check(const LaunchArgs *args, bool is_users, LaunchConflict *ret, GError **error) {
        g_auto(ContainerRequest) request = { 0 };

        *ret = (LaunchConflict) { 0 };
        request_init(args, &request);
        request.network.mode = NETWORK_PATH; /* until it is said: not the host's */
        return read_all(args, is_complete, &request, ret, error) && check_ahead(args, &request, is_users, ret, error);
}

bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error) {
        g_auto(ContainerRequest) request = { 0 };
        LaunchConflict unused;

        request_init(args, &request);
        if (!read_all(args, NULL, &request, &unused, error) || !userns_request_finish(&request.userns, error))
                return false;
        complete(&request);
        *ret = request;
        request = (ContainerRequest) { 0 };
        return true;
}
