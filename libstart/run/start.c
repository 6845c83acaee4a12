/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/health/health-start.h"
#include "libstart/mount/root-file.h"
#include "libstart/pod/network.h"
#include "libstart/pod/pod-command.h"
#include "libstart/pod/shared-hostname.h"
#include "libstart/request/launch-request.h"
#include "libstart/root/etc-files.h"
#include "libstart/root/identity.h"
#include "libstart/root/root.h"
#include "libstart/root/users-image.h"
#include "libstart/run/description.h"
#include "libstart/run/image-copy.h"
#include "libstart/run/payload-run.h"
#include "libstart/run/seccomp-filter.h"
#include "libstart/run/secrets.h"
#include "libstart/run/start.h"
#include "libstart/runtime/device-guard.h"
#include "libstart/service/host.h"
#include "libstart/service/id-file.h"
#include "libstart/service/labels.h"
#include "libstart/service/own-cgroup.h"
#include "libstart/service/payload-input.h"
#include "libstart/service/state-dir.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/userns/owner.h"
#include "libstart/value/runtime-kind.h"
#include "libstart/volume/requested-mounts.h"
#include "libstart/volume/volume-owners.h"

#define BRING_SEC (4 * 60 * 60) /* as the service that brings an image may take */

/* A start, in the order in which it goes: find() what is asked for, make_root(), describe() the container as an OCI
 * spec, connect_payload() with the outside, run it (payload-run.h). Until the payload is executed anything may fail,
 * and then nothing is left but files of known names in the state directory, which systemd removes. After that nothing
 * may fail: the container runs. */
struct Start {
        ContainerRequest request;
        bool is_shown; /* what would be started is only looked at: nothing is made, given or changed */
        Timing *timing;
        ExecReport report;
        Notify *systemd;

        /* found */
        StateDir state_dir;
        char *unit; /* of the service, without the suffix: the name of its RuntimeDirectory= */
        Host host;
        SelinuxLabels labels;
        Root root;
        PayloadPlan payload;
        Owner owner; /* where the container has one */
        UserNamespace userns;
        Network network;
        Secrets secrets;

        /* made */
        char *hostname;
        Identity identity;
        GPtrArray *file_mounts; /* of MountRequest, or NULL */
        char *volumes;          /* the directory of named volumes, or NULL */

        /* described */
        Description description;
        GBytes *filter;
        HealthPlan *health; /* or NULL */
        int cgroup;         /* the payload's own, or -1 */

        /* connected */
        PayloadLog log;
        PayloadNotify notify;
};

static void start_free(Start *start) {
        container_request_clear(&start->request);
        timing_free(start->timing);
        exec_report_close(&start->report);
        notify_free(start->systemd);
        state_dir_clear(&start->state_dir);
        g_free(start->unit);
        host_clear(&start->host);
        selinux_labels_clear(&start->labels);
        root_clear(&start->root);
        owner_clear(&start->owner);
        user_namespace_clear(&start->userns);
        network_clear(&start->network);
        secrets_clear(&start->secrets);
        g_free(start->hostname);
        identity_clear(&start->identity);
        g_clear_pointer(&start->file_mounts, g_ptr_array_unref);
        g_free(start->volumes);
        description_clear(&start->description);
        payload_plan_clear(&start->payload);
        g_clear_pointer(&start->filter, g_bytes_unref);
        health_plan_free(start->health);
        fd_close(&start->cgroup);
        payload_log_close(&start->log);
        payload_notify_close(&start->notify);
        g_free(start);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Start, start_free)

static Start *start_new(void) {
        static const Start empty = {
                .state_dir = { .lock = -1 },
                .report = EXEC_REPORT_NULL,
                .root = ROOT_NULL,
                .userns = USER_NAMESPACE_NULL,
                .network = NETWORK_NULL,
                .secrets = { .mount = -1 },
                .cgroup = -1,
                .log = PAYLOAD_LOG_NULL,
                .notify = PAYLOAD_NOTIFY_NULL,
        };

        return g_memdup2(&empty, sizeof empty);
}

/* Whether the payload is an init has a say in its label. */
static bool find_labels(Start *start, GError **error) {
        if (!payload_plan_make(&start->request, start->root.config, &start->payload, error) ||
            !labels_find(&start->request, start->host.facts.selinux, start->payload.is_systemd,
                         start->is_shown ? NULL : &start->state_dir, &start->labels, error))
                return false;
        start->root.label = start->labels.file;
        start->root.network = start->network.path ? &start->network.names : NULL;
        return true;
}

/* Its ids are noted under the directory's name, which is one container's only where all have theirs. */
static bool check_place(const Start *start, GError **error) {
        const char *path = start->state_dir.path ?: start->request.state_dir;
        g_autofree char *above = path ? g_path_get_dirname(path) : g_strdup(PATH_RUN);
        UsernsMode mode = start->request.userns.mode;

        return (mode != USERNS_AUTO && mode != USERNS_DYNAMIC) || g_str_equal(above, PATH_RUN) ||
               error_set(error, KT_ERROR_USAGE,
                         "--userns=auto and --dynamic-user find ids for directories in '" PATH_RUN
                         "': choose a --state-dir there");
}

/* Once: an image may have been looked for with its ids. */
static bool find_user_namespace(Start *start, GError **error) {
        const IdAssignment wanted = {
                .name = start->request.name,
                .unit = start->unit,
                .request = &start->request.userns,
                .owner = start->request.host_access.owner,
                .user = start->request.user ?: (start->root.config ? start->root.config->user : NULL),
                .layers = start->root.layers,
                .is_pinned = !start->is_shown && start->request.network.is_owned,
                .is_shown = start->is_shown,
        };

        return start->userns.uids ||
               (check_place(start, error) && user_namespace_find(&wanted, &start->userns, error) &&
                network_settle_owner(&start->request.network, start->userns.path, &start->network, error));
}

static bool find_owner(Start *start, GError **error) {
        UsernsRequest *request = &start->request.userns;

        if (!request->owner)
                return true;
        start->request.host_access.owner = &start->owner;
        return owner_find(request, &start->owner, error);
}

static bool find_hostname(Start *start, GError **error) {
        start->hostname = start->request.uts.path ? shared_hostname_read(start->request.uts.path, error) :
                                                    container_request_hostname(&start->request, start->host.hostname);
        return start->hostname;
}

/* In her own store first, where the file says so: with the container's ids, which do not depend on its image. */
static bool find_in_stores(Start *start, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (!start->request.users_store)
                return root_find(&start->request, &start->root, error);
        if (!find_user_namespace(start, error))
                return false;
        if (users_image_find(&start->request, &start->owner, &start->userns, &start->root, &problem))
                return true;
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        if (root_find(&start->request, &start->root, error))
                return true;
        return error_prefix(error, "%s. In the system's: ", problem->message);
}

/* What has brought the image has no more to do for systemd, and somebody has removed the image since, as podman image
 * prune does: Podman's own start would bring it. */
static bool bring_again(const Start *start, const char *state) {
        return g_strcmp0(state, "active") == 0 && unit_restart_for_start(start->request.image_unit, start->systemd,
                                                                         "brings the image again", BRING_SEC, NULL);
}

/* Why what brings the image ahead has not. Where another start has it bring that again, or it tries again by
 * itself, it starts this container when it has it. Transfer full. */
static char *find_failure(const char *unit, const char *state) {
        char *failure = unit_failure_find(unit);

        if (!failure && (g_strcmp0(state, "activating") == 0 || g_strcmp0(state, "deactivating") == 0))
                failure = g_strdup_printf("%s has not brought the image yet", unit);
        return failure;
}

/* Without its image a container says why that could not be brought. */
static bool find_root(Start *start, GError **error) {
        const ContainerRequest *request = &start->request;
        g_autofree char *failure = request->image_unit_counts ? unit_failure_find(request->image_unit) : NULL;

        if (!failure && find_in_stores(start, error))
                return true;
        if (!failure && request->image_unit && g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_autofree char *state = start->is_shown ? NULL : systemd_unit_state(request->image_unit, NULL);

                if (bring_again(start, state)) {
                        g_clear_error(error);
                        return find_in_stores(start, error);
                }
                failure = find_failure(request->image_unit, state);
        }
        if (!failure)
                return false;
        g_clear_error(error);
        return error_set(error, KT_ERROR_NO_IMAGE, "%s", failure);
}

/* Of a user's container, whose layers cannot be mapped. A directory of hers has the owners that it has. */
static bool find_copy(Start *start, GError **error) {
        if (start->request.rootfs || !user_namespace_has_other_owners(&start->request.userns, &start->userns))
                return true;
        start->root.copy = image_copy_find(start->unit, start->state_dir.path, &start->root, &start->userns,
                                           start->systemd, error);
        return start->root.copy;
}

static bool find(Start *start, GError **error) {
        if (!state_dir_make(&start->request, &start->state_dir, error) || !host_gather(&start->host, error) ||
            !pod_settle(start->request.userns.path, error) ||
            !network_find(&start->request, &start->network, error) || !find_owner(start, error))
                return false;
        start->unit = g_path_get_basename(start->state_dir.path);
        if (!find_root(start, error) || !find_labels(start, error) ||
            !secrets_find(&start->request, start->state_dir.private_path, start->labels.file, &start->secrets,
                          error) ||
            !find_user_namespace(start, error) || !find_copy(start, error) ||
            !secrets_give(&start->secrets, &start->userns, error) || !find_hostname(start, error))
                return false;
        timing_mark(start->timing, TIMING_IMAGE);
        return true;
}

static bool make_root(Start *start, GError **error) {
        const ContainerRequest *request = &start->request;
        Root *root = &start->root;
        bool made = root_mount(root, request, &start->userns, start->state_dir.private_path, start->hostname,
                               error) &&
                    identity_read(root->fd, request, root->config, &start->userns, &start->identity, error) &&
                    root_complete(root, request, &start->userns, start->hostname, &start->identity,
                                  &start->file_mounts, error) &&
                    requested_mounts_find(request, root, &start->volumes, error) &&
                    requested_mounts_prepare(request, start->volumes, root, &start->identity.outside, error);

        timing_mark(start->timing, TIMING_ROOT);
        return made;
}

/* Does the payload talk to systemd itself? Where systemd does not listen to us it does not listen to the payload. */
static bool has_notify_socket(const Start *start) {
        return start->request.notify == NOTIFY_CONTAINER && getenv("NOTIFY_SOCKET");
}

static bool describe(Start *start, GError **error) {
        const char *private_path = start->state_dir.private_path ?: "/";
        g_autofree char *notify_socket = has_notify_socket(start) ? payload_notify_path(private_path) : NULL;
        SpecInput input = {
                .request = &start->request,
                .image = start->root.config,
                .image_id = start->root.image_id,
                .user = &start->identity.user,
                .host = &start->host.facts,
                .hostname = start->hostname,
                .payload = &start->payload,
                .root = start->root.mount_point,
                .volumes = start->volumes,
                .root_is_kept = start->root.directory,
                .notify_socket = notify_socket,
                .file_mounts = start->file_mounts,
                .uid_map = start->userns.uids,
                .gid_map = start->userns.gids,
                .userns_path = start->userns.path,
                .network_path = start->network.path,
                .secret_files = start->secrets.files,
                .secret_variables = start->secrets.variables,
                .labels = &start->labels,
        };

        return description_make(&input, &start->host, &start->description, error) &&
               volume_owners_set(start->description.mounts, &start->request, &start->root, &start->userns, error);
}

/* Nobody can open a device by a node that was made in a user namespace. Nodes of AddDevice= are mounts. */
static bool check_nodes(const Start *start, GError **error) {
        return !start->userns.uids || start->description.spec->linux->devices_len == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "The node '%s' cannot be made in a user namespace: with one, --privileged, names of CDI and "
                         "hooks give no devices; name the nodes in AddDevice=",
                         start->description.spec->linux->devices[0]->path);
}

/* The last step before devices are used. */
static bool guard_devices(const Start *start, GError **error) {
        return !start->request.guard_devices ||
               device_guard_set(start->host.facts.device_nodes, start->request.device_rules,
                                start->description.spec->linux, error);
}

/* A working directory that the user names and that is not there is a mistake in the file, as with Podman; libcrun
 * would make it. What a mount will bring cannot be looked at yet. */
static bool require_workdir(const Start *start, GError **error) {
        const char *workdir = start->request.workdir;

        if (!workdir || mount_plan_covers(start->description.mounts, workdir))
                return true;
        return root_file_check_directory(start->root.fd, workdir, error);
}

/* libcrun clones the payload into it. runc has one itself, and what gVisor runs sees none of the host's. */
static bool make_own_cgroup(Start *start, GError **error) {
        const char *runtime = start->request.runtime;

        if (start->payload.is_systemd)
                return own_cgroup_enter(user_namespace_uid(&start->userns, 0), user_namespace_gid(&start->userns, 0),
                                        error);
        if (!start->request.own_cgroup || (runtime && runtime_kind_find(runtime) != RUNTIME_CRUN))
                return true;
        return own_cgroup_make(&start->cgroup, error) &&
               (!runtime || start->cgroup < 0 || own_cgroup_join(start->cgroup, error));
}

static bool find_filter(Start *start, GError **error) {
        Description *description = &start->description;

        return seccomp_filter_find(&start->request, description->capabilities, description->spec->linux,
                                   &start->filter, error);
}

/* The last step that opens what systemd and the journal gave. */
static bool connect_payload(Start *start, GError **error) {
        return (!has_notify_socket(start) ||
                payload_notify_open(&start->notify, start->state_dir.private_path, start->labels.file, error)) &&
               payload_input_open(start->request.detach, start->request.interactive, error) &&
               payload_log_open(&start->log, &start->request, &start->identity.outside, error);
}

static bool prepare(Start *start, GError **error) {
        const ContainerRequest *request = &start->request;
        Description *description = &start->description;

        umask(0); /* modes below are meant as they stand */
        if (!find(start, error) || !make_root(start, error) || !describe(start, error) ||
            !description_apply_hooks(description, request, start->state_dir.path, error) ||
            !check_nodes(start, error) ||
            !requested_mounts_relabel(request, start->volumes, start->labels.file, start->systemd, error) ||
            !require_workdir(start, error) ||
            !etc_files_check(request, description->mounts, start->state_dir.private_path, error) ||
            !health_prepare(request, start->root.health, start->state_dir.path, &start->health, error) ||
            !guard_devices(start, error) || !make_own_cgroup(start, error) ||
            (request->keep_groups && !owner_keep_groups(request->host_access.owner, error)) ||
            (request->id_file && !id_file_write(request, error)))
                return false;
        timing_mark(start->timing, TIMING_SPEC);
        if (!find_filter(start, error))
                return false;
        timing_mark(start->timing, TIMING_FILTER);
        return connect_payload(start, error);
}

static int run(Start *start, int listen_fds, GError **error) {
        g_autofree char *service = g_strconcat(start->unit, ".service", NULL);
        PayloadRun payload = {
                .container = {
                        .state_root = start->state_dir.path,
                        .id = start->request.name,
                        .spec = start->description.spec,
                        .mounts = start->description.mounts,
                        .environment = start->description.environment,
                        .filter = start->filter,
                        .label = { start->request.label.nested ? "rootcontext" : "context", start->labels.file },
                        .root_mount = start->root.mount,
                        .root_is_shared = start->root.directory,
                        .layer_mount = start->root.layer_is_attached ? -1 : start->root.layer.mount,
                        .layer_place = start->root.layer_place,
                        .secrets_mount = start->secrets.mount,
                        .secrets_place = start->secrets.place,
                        .request = &start->request,
                        .userns = &start->userns,
                        .cgroup = start->cgroup >= 0 ? &start->cgroup : NULL,
                        .preserve_fds = listen_fds,
                        .report = &start->report,
                        .timing = start->timing,
                        .keep_groups = start->request.keep_groups || user_view_keeps_groups(),
                },
                .plan = &start->payload,
                .unit = service,
                .user = &start->identity.outside,
                .log = &start->log,
                .notify = &start->notify,
                .systemd = start->systemd,
                .health = start->health,
                .made_files = start->root.made,
        };

        return payload_run(&payload, error);
}

static int prepare_and_run(Start *start, const LaunchArgs *args, GError **error) {
        int listen_fds = host_listen_fds();

        start->timing = timing_new();
        /* First of all, while its place behind the activated sockets is free. */
        if (!exec_report_open(&start->report, 3 + listen_fds, error) ||
            !launch_args_read(args, &start->request, error))
                return -1;
        start->systemd = notify_open(error);
        return !*error && prepare(start, error) ? run(start, listen_fds, error) : -1;
}

static int exit_status(const GError *error) {
        return g_error_matches(error, KT_ERROR, KT_ERROR_NOT_EXECUTABLE) ? EXIT_NOT_EXECUTABLE :
               g_error_matches(error, KT_ERROR, KT_ERROR_NO_IMAGE)       ? EXIT_NO_IMAGE :
                                                                           EXIT_KEYTURN;
}

int start_container(const LaunchArgs *args, Start **ret, GError **error) {
        Start *start = *ret = start_new();
        int status = prepare_and_run(start, args, error);

        payload_log_close(&start->log); /* what the caller may have to say is not the payload's */
        if (*error || !start->request.detach) {
                root_unmount(&start->root);
                state_dir_discard(&start->state_dir);
        }
        return status < 0 ? exit_status(*error) : status;
}

char *start_print_spec(const LaunchArgs *args, GError **error) {
        g_autoptr(Start) start = start_new();
        const ContainerRequest *request = &start->request;
        Root *root = &start->root;

        start->is_shown = true;
        if (!launch_args_read(args, &start->request, error))
                return NULL;
        start->unit = g_path_get_basename(request->state_dir ?: request->name);
        if (!host_gather(&start->host, error) || !find_owner(start, error) || !find_in_stores(start, error) ||
            !find_user_namespace(start, error) || !find_labels(start, error) || !root_peek(root, error) ||
            !identity_read(root->fd, request, root->config, &start->userns, &start->identity, error) ||
            !requested_mounts_find(request, root, &start->volumes, error) || !find_hostname(start, error))
                return NULL;
        secrets_pretend(request, &start->secrets);
        network_pretend(&start->request, &start->network);
        if (!describe(start, error) || (request->runtime && !find_filter(start, error)))
                return NULL;
        return spec_to_json(start->description.spec, start->description.environment, error);
}
