/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/health/health-start.h"
#include "libstart/hook/oci-hooks.h"
#include "libstart/mount/root-file.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/spec-process.h"
#include "libstart/oci/spec.h"
#include "libstart/pod/network.h"
#include "libstart/pod/pod-command.h"
#include "libstart/pod/shared-hostname.h"
#include "libstart/program-start/program-start.h"
#include "libstart/request/launch-request.h"
#include "libstart/root/etc-files.h"
#include "libstart/root/identity.h"
#include "libstart/root/made-files.h"
#include "libstart/root/root.h"
#include "libstart/root/users-image.h"
#include "libstart/run/cdi-devices.h"
#include "libstart/run/environment-files.h"
#include "libstart/run/image-copy.h"
#include "libstart/run/seccomp-filter.h"
#include "libstart/run/secrets.h"
#include "libstart/run/start.h"
#include "libstart/runtime/device-guard.h"
#include "libstart/runtime/hand-over.h"
#include "libstart/runtime/runtime.h"
#include "libstart/runtime/stop-guard.h"
#include "libstart/runtime/timing.h"
#include "libstart/service/host.h"
#include "libstart/service/id-file.h"
#include "libstart/service/labels.h"
#include "libstart/service/own-cgroup.h"
#include "libstart/service/payload-input.h"
#include "libstart/service/payload-log.h"
#include "libstart/service/payload-notify.h"
#include "libstart/service/state-dir.h"
#include "libstart/systemd/stop-unit.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/userns/owner.h"
#include "libstart/volume/artifact-mounts.h"
#include "libstart/volume/kept-volumes.h"
#include "libstart/volume/requested-mounts.h"
#include "libstart/volume/volume-owners.h"

/* A start, in the order in which it goes: find() what is asked for, make_root(), describe() the container as an OCI
 * spec, connect_payload() with the outside, run it. Until the payload is executed anything may fail, and then nothing
 * is left but files of known names in the state directory, which systemd removes. After that nothing may fail: the
 * container runs. */
struct Start {
        ContainerRequest request;
        Timing *timing;
        ExecReport report;
        Notify *systemd;

        /* found */
        StateDir state_dir;
        char *shown_dir; /* see choose_state_dir(); or NULL */
        char *unit;      /* the name of the service: that of its RuntimeDirectory= */
        Host host;
        SelinuxLabels labels;
        Root root;
        Owner owner; /* where the container has one */
        UserNamespace userns;
        Network network;
        Secrets secrets;

        /* made */
        char *hostname;
        Identity identity;
        UserIdentity outside;   /* the payload's ids as the host has them, and no more of it */
        GPtrArray *file_mounts; /* of MountRequest, or NULL */
        char *volumes;          /* the directory of named volumes, or NULL */

        /* described */
        CdiDevices cdi;
        EnvironmentFiles environment_files;
        char **environment;
        runtime_spec_schema_config_schema *spec;
        MountPlan *mounts;
        PayloadPlan payload;
        char *init_program; /* or NULL */
        char *uuid;         /* or NULL */
        GBytes *filter;
        HealthPlan *health; /* or NULL */

        /* connected */
        PayloadLog log;
        PayloadNotify notify;
};

void start_free(Start *start) {
        if (!start)
                return;
        container_request_clear(&start->request);
        timing_free(start->timing);
        exec_report_close(&start->report);
        notify_free(start->systemd);
        state_dir_clear(&start->state_dir);
        g_free(start->shown_dir);
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
        cdi_devices_clear(&start->cdi);
        environment_files_clear(&start->environment_files);
        g_free(start->environment);
        mount_plan_free(start->mounts);
        free_runtime_spec_schema_config_schema(start->spec);
        payload_plan_clear(&start->payload);
        g_free(start->init_program);
        g_free(start->uuid);
        g_clear_pointer(&start->filter, g_bytes_unref);
        health_plan_free(start->health);
        payload_log_close(&start->log);
        payload_notify_close(&start->notify);
        g_free(start);
}

static Start *start_new(void) {
        static const Start empty = {
                .state_dir = { .lock = -1 },
                .report = EXEC_REPORT_NULL,
                .root = ROOT_NULL,
                .userns = USER_NAMESPACE_NULL,
                .network = NETWORK_NULL,
                .secrets = { .mount = -1 },
                .log = PAYLOAD_LOG_NULL,
                .notify = PAYLOAD_NOTIFY_NULL,
        };

        return g_memdup2(&empty, sizeof empty);
}

/* Whether the payload is an init has a say in its label. */
static bool find_labels(Start *start, const StateDir *state_dir, GError **error) {
        if (!payload_plan_make(&start->request, start->root.config, &start->payload, error) ||
            !labels_find(&start->request, start->host.facts.selinux, start->payload.is_systemd, state_dir,
                         &start->labels, error))
                return false;
        start->root.label = start->labels.file;
        start->root.network = start->network.path ? &start->network.names : NULL;
        return true;
}

/* Its ids are noted under the directory's name, which is one container's only where all have theirs. */
static bool check_place(const ContainerRequest *request, GError **error) {
        g_autofree char *above = request->state_dir ? g_path_get_dirname(request->state_dir) : g_strdup(PATH_RUN);

        return (request->userns.mode != USERNS_AUTO && request->userns.mode != USERNS_DYNAMIC) ||
               g_str_equal(above, PATH_RUN) ||
               error_set(error, KT_ERROR_USAGE,
                         "--userns=auto and --dynamic-user find ids for directories in '" PATH_RUN
                         "': choose a --state-dir there");
}

static bool find_user_namespace(Start *start, const char *unit, bool is_shown, GError **error) {
        const IdAssignment wanted = {
                .name = start->request.name,
                .unit = unit,
                .request = &start->request.userns,
                .owner = start->request.host_access.owner,
                .user = start->request.user ?: (start->root.config ? start->root.config->user : NULL),
                .layers = start->root.layers,
                .is_pinned = !is_shown && start->request.network.is_owned,
                .is_shown = is_shown,
        };

        return check_place(&start->request, error) && user_namespace_find(&wanted, &start->userns, error) &&
               network_settle_owner(&start->request.network, start->userns.path, &start->network, error);
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
static bool find_in_stores(Start *start, const char *unit, bool is_shown, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (!start->request.users_store)
                return root_find(&start->request, &start->root, error);
        if (!find_user_namespace(start, unit, is_shown, error))
                return false;
        if (users_image_find(&start->request, &start->owner, &start->userns, &start->root, &problem))
                return true;
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        if (root_find(&start->request, &start->root, error))
                return true;
        g_prefix_error(error, "%s. In the system's: ", problem->message);
        return false;
}

/* Without its image a container says why that could not be brought. */
static bool find_root(Start *start, const char *unit, GError **error) {
        const ContainerRequest *request = &start->request;
        g_autofree char *failure = request->image_unit_counts ? unit_failure_find(request->image_unit) : NULL;

        if (!failure && find_in_stores(start, unit, false, error))
                return true;
        if (!failure && request->image_unit && g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_FOUND))
                failure = unit_failure_find(request->image_unit);
        if (!failure)
                return false;
        g_clear_error(error);
        return error_set(error, KT_ERROR_NO_IMAGE, "%s", failure);
}

/* Of a user's container, whose layers cannot be mapped. A directory of hers has the owners that it has. */
static bool find_copy(Start *start, const char *unit, GError **error) {
        if (start->request.rootfs || !user_namespace_has_other_owners(&start->request.userns, &start->userns))
                return true;
        start->root.copy = image_copy_find(unit, start->state_dir.path, &start->root, &start->userns, start->systemd,
                                           error);
        return start->root.copy;
}

/* The way to it as systemd names it leads through $XDG_RUNTIME_DIR, which a root with other ids than the user's
 * cannot pass. In the view there is another. Which ids a pod's namespace has is not known yet. */
static void choose_state_dir(Start *start) {
        g_autofree char *base = NULL;

        if (!user_view_is_entered() || start->request.userns.mode == USERNS_HOST || !start->request.state_dir)
                return;
        base = g_path_get_basename(start->request.state_dir);
        start->shown_dir = g_build_filename(PATH_RUN, base, NULL);
        if (g_file_test(start->shown_dir, G_FILE_TEST_IS_DIR))
                start->request.state_dir = start->shown_dir;
}

static bool find(Start *start, GError **error) {
        g_autofree char *base = NULL;

        choose_state_dir(start);
        if (!state_dir_make(start->request.state_dir, start->request.name, &start->state_dir, error) ||
            !host_gather(&start->host, error) || !pod_settle(start->request.userns.path, error) ||
            !network_find(&start->request, &start->network, error) || !find_owner(start, error))
                return false;
        base = g_path_get_basename(start->state_dir.path);
        if (!find_root(start, base, error) || !find_labels(start, &start->state_dir, error) ||
            !secrets_find(&start->request, start->state_dir.private_path, start->labels.file, &start->secrets, error))
                return false;
        start->unit = g_strconcat(base, ".service", NULL);
        if (!(start->userns.uids || find_user_namespace(start, base, false, error)) ||
            !find_copy(start, base, error) || !secrets_give(&start->secrets, &start->userns, error) ||
            !find_hostname(start, error))
                return false;
        timing_mark(start->timing, TIMING_IMAGE);
        return true;
}

/* Podman's is the begin of an id that a container has only once. Transfer full. */
static char *make_uuid(void) {
        g_autofree char *random = g_uuid_string_random();
        g_auto(GStrv) parts = g_strsplit(random, "-", -1);

        return g_strjoinv("", parts);
}

static bool find_mounts(Start *start, GError **error) {
        ContainerRequest *request = &start->request;

        return requested_mounts_expand(request->mounts, request->host_access.owner, error) &&
               artifact_mounts_expand(request->mounts, start->root.fd, request->image_stores, error) &&
               (request->image_volumes != IMAGE_VOLUMES_KEPT ||
                kept_volumes_add(request->mounts, request->name, start->root.config->volumes, error)) &&
               requested_mounts_find_volumes(request->mounts, &start->volumes, error);
}

static bool read_identity(Start *start, GError **error) {
        const UserIdentity *user = &start->identity.user;

        if (!identity_read(start->root.fd, &start->request, start->root.config, &start->userns, &start->identity,
                           error) ||
            !user_namespace_check(&start->userns, user->uid, user->gid, user->additional_gids, error))
                return false;
        start->outside = (UserIdentity) {
                .uid = user_namespace_uid(&start->userns, user->uid),
                .gid = user_namespace_gid(&start->userns, user->gid),
        };
        return true;
}

static bool make_root(Start *start, GError **error) {
        bool made = root_mount(&start->root, &start->request, &start->userns, start->state_dir.private_path,
                               start->hostname, error) &&
                    read_identity(start, error) &&
                    root_complete(&start->root, &start->request, &start->userns, start->hostname, &start->identity,
                                  &start->file_mounts, error) &&
                    find_mounts(start, error) &&
                    requested_mounts_prepare(&start->request, start->volumes, &start->root, &start->outside, error);

        timing_mark(start->timing, TIMING_ROOT);
        return made;
}

/* Does the payload talk to systemd itself? Where systemd does not listen to us it does not listen to the payload. */
static bool has_notify_socket(const Start *start) {
        return start->request.notify == NOTIFY_CONTAINER && getenv("NOTIFY_SOCKET");
}

/* As it is named, which whoever mounts it checks like any source; or catatonit, where Podman looks for it: its
 * helper_binaries_dir, and what it has of $PATH. Transfer full. */
static char *find_init_program(const ContainerRequest *request, GError **error) {
        static const char *const places[] = {
                "/usr/local/libexec/podman", "/usr/local/lib/podman", "/usr/libexec/podman",
                "/usr/lib/podman",           "/usr/local/bin",        "/usr/bin",
        };

        if (request->init_path)
                return g_strdup(request->init_path);
        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
                g_autofree char *path = g_build_filename(places[i], "catatonit", NULL);

                if (access(path, X_OK) == 0)
                        return g_steal_pointer(&path);
        }
        error_set(error, KT_ERROR_NOT_FOUND,
                  "There is no catatonit on this machine, which is to be the payload's init: install the package "
                  "'catatonit', or name another program with PodmanArgs=--init-path=");
        return NULL;
}

/* What an init needs that other payloads do not. */
static bool complete_payload(Start *start, SpecInput *input, GError **error) {
        if (start->request.init) {
                start->init_program = find_init_program(&start->request, error);
                if (!start->init_program)
                        return false;
        }
        if (start->payload.is_systemd)
                start->uuid = make_uuid();
        input->payload = &start->payload;
        input->init_program = start->init_program;
        input->uuid = start->uuid;
        return true;
}

static void log_left_out(const MountPlan *mounts) {
        for (guint i = 0; i < mounts->left_out->len; i++)
                log_notice("The image's VOLUME '%s' is left out: what is there in every container stays",
                           (const char *) mounts->left_out->pdata[i]);
}

/* The spec, the environment and the capabilities that a filter is needed for. For running, the environment stays out
 * of the spec: runtime/runtime.c has it as it is, and a copy of thousands of variables would only cost. */
static bool describe(Start *start, bool for_running, guint64 *ret_capabilities, GError **error) {
        const char *private_path = start->state_dir.private_path ?: "/";
        g_autofree char *notify_socket = has_notify_socket(start) ? payload_notify_path(private_path) : NULL;
        SpecInput input = {
                .request = &start->request,
                .image = start->root.config,
                .image_id = start->root.image_id,
                .user = &start->identity.user,
                .host = &start->host.facts,
                .hostname = start->hostname,
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

        if (!environment_files_read(&start->request, &start->environment_files, error) ||
            !spec_find_capabilities(input.request, input.image, input.host, &input.capabilities, error) ||
            !complete_payload(start, &input, error) || !host_find_devices(&start->host, &start->request, error) ||
            !cdi_devices_find(&start->request, &start->cdi, error) ||
            !cdi_devices_add_nodes(&start->cdi, start->identity.user.uid, start->identity.user.gid,
                                   start->host.facts.device_nodes, error))
                return false;
        input.env_files = start->environment_files.contents;
        input.env_list = start->environment_files.list;
        input.env_list_length = start->environment_files.list_length;
        start->environment = environment_build(&input, start->environment_files.owned, error);
        if (!start->environment)
                return false;
        cdi_devices_add_environment(&start->cdi, &start->environment);
        input.environment = for_running ? NULL : start->environment;
        start->spec = spec_build(&input, &start->mounts, error);
        *ret_capabilities = input.capabilities;
        if (!start->spec)
                return false;
        log_left_out(start->mounts);
        cdi_devices_apply(&start->cdi, start->mounts, start->spec);
        return volume_owners_set(start->mounts, &start->request, &start->root, &start->userns, error);
}

static bool apply_hooks(Start *start, GError **error) {
        const OciHooks hooks = { .request = &start->request,
                                 .mounts = start->mounts,
                                 .cdi = start->cdi.edits,
                                 .bundle = start->state_dir.path };

        return oci_hooks_apply(&hooks, &start->spec, &start->environment, error);
}

/* Nobody can open a device by a node that was made in a user namespace. Nodes of AddDevice= are mounts. */
static bool check_nodes(const Start *start, GError **error) {
        return !start->userns.uids || start->spec->linux->devices_len == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "The node '%s' cannot be made in a user namespace: with one, --privileged, names of CDI and "
                         "hooks give no devices; name the nodes in AddDevice=",
                         start->spec->linux->devices[0]->path);
}

/* The last step before devices are used. */
static bool guard_devices(const Start *start, GError **error) {
        return !start->request.guard_devices ||
               device_guard_set(start->host.facts.device_nodes, start->request.device_rules, start->spec->linux,
                                error);
}

/* A working directory that the user names and that is not there is a mistake in the file, as with Podman; libcrun
 * would make it. What a mount will bring cannot be looked at yet. */
static bool require_workdir(const Start *start, GError **error) {
        const char *workdir = start->request.workdir;

        if (!workdir || mount_plan_covers(start->mounts, workdir))
                return true;
        return root_file_check_directory(start->root.fd, workdir, error);
}

static bool require_etc_files(const Start *start, GError **error) {
        return etc_files_check(&start->request, start->mounts, start->state_dir.private_path, error);
}

static bool plan_health(Start *start, GError **error) {
        return health_plan_make(&start->request, start->root.health, &start->health, error) &&
               (!start->health || health_write(start->health, start->state_dir.path, error));
}

/* The last step that opens what systemd and the journal gave. */
static bool connect_payload(Start *start, GError **error) {
        return (!has_notify_socket(start) ||
                payload_notify_open(&start->notify, start->state_dir.private_path, start->labels.file, error)) &&
               payload_input_open(start->request.detach, start->request.interactive, error) &&
               payload_log_open(&start->log, &start->request, &start->outside, error);
}

static bool enter_own_cgroup(const Start *start, GError **error) {
        return !start->payload.is_systemd ||
               own_cgroup_enter(user_namespace_uid(&start->userns, 0), user_namespace_gid(&start->userns, 0), error);
}

/* The owner's, and those that systemd has given libstart. */
static bool keep_groups(const Start *start, GError **error) {
        const Owner *owner = start->request.host_access.owner;

        return !start->request.keep_groups || !owner || owner_keep_groups(owner, error);
}

/* Another runtime is told of the profile. */
static bool find_filter(Start *start, guint64 capabilities, GError **error) {
        return start->request.runtime ?
                       seccomp_filter_describe(&start->request, capabilities, start->spec->linux, error) :
                       seccomp_filter_load(&start->request, capabilities, &start->filter, error);
}

static bool prepare(Start *start, GError **error) {
        guint64 capabilities;

        umask(0); /* modes below are meant as they stand */
        if (!find(start, error) || !make_root(start, error) || !describe(start, true, &capabilities, error) ||
            !apply_hooks(start, error) || !check_nodes(start, error) ||
            !requested_mounts_relabel(&start->request, start->volumes, start->labels.file, start->systemd, error) ||
            !require_workdir(start, error) || !require_etc_files(start, error) || !plan_health(start, error) ||
            !guard_devices(start, error) || !enter_own_cgroup(start, error) || !keep_groups(start, error) ||
            (start->request.id_file && !id_file_write(&start->request, error)))
                return false;
        timing_mark(start->timing, TIMING_SPEC);
        if (!find_filter(start, capabilities, error))
                return false;
        timing_mark(start->timing, TIMING_FILTER);
        return connect_payload(start, error);
}

static int exec_failure(const Start *start, int errnum, GError **error) {
        error_set_errno(error, errnum, "Cannot execute '%s' in the container%s", start->spec->process->args[0],
                        errnum == ENOENT ? " (or the interpreter or loader that it names)" : "");
        return errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void remember_files(const Start *start) {
        if (start->root.made)
                made_files_remember(start->root.made, start->state_dir.path);
}

/* After the start, so that it costs the start nothing. */
static void report_timing(const Start *start) {
        timing_report(start->timing, start->state_dir.path, start->unit, start->request.timing);
}

static bool payload_started(Start *start, pid_t payload, GError **error) {
        return payload_log_started(&start->log, &start->request, &start->outside, start->unit, payload, error);
}

/* A payload that nobody hears would be waited for in vain. */
static bool hand_over_notify(Start *start, pid_t main_process, GError **error) {
        bool done = payload_notify_hand_over(&start->notify, start->unit, main_process, error);

        if (!done && main_process != getpid())
                kill(main_process, SIGKILL);
        return done;
}

/* A service, whose unit says nothing of the signal: what the request says, the unit says as well. */
static bool is_stopped_by_image(const Start *start) {
        return start->request.state_dir && start->request.stop_signal == 0 && start->payload.stop_signal != SIGTERM;
}

/* Beside MAINPID=. A start that waits says for what: that is its status, also when its time is over. */
static const char *find_first_state(NotifyMode mode) {
        switch (mode) {
        case NOTIFY_CONMON:
                return "READY=1\n";
        case NOTIFY_CONTAINER:
                return "STATUS=Waits for READY=1 of the payload, as Notify=true asks for it\n";
        case NOTIFY_HEALTHY:
                return "STATUS=Waits for a health check that succeeds, as Notify=healthy asks for it\n";
        case NOTIFY_IGNORE:
                return "";
        }
        g_return_val_if_reached("");
}

static int exit_status(const GError *error) {
        return g_error_matches(error, KT_ERROR, KT_ERROR_NOT_EXECUTABLE) ? EXIT_NOT_EXECUTABLE :
               g_error_matches(error, KT_ERROR, KT_ERROR_NO_IMAGE)       ? EXIT_NO_IMAGE :
                                                                           EXIT_KEYTURN;
}

/* A stop that follows READY=1 at once has to find the unit that sends the signal, so that is started before. */
static bool detached_started(pid_t payload, void *data, GError **error) {
        Start *start = data;

        if (!payload_started(start, payload, error))
                return false;
        if (start->systemd && is_stopped_by_image(start) && !hand_over_has_ended(payload))
                stop_unit_start(start->unit, start->payload.stop_signal);
        return true;
}

static void detached_ended(pid_t payload, void *data) {
        Start *start = data;

        payload_notify_drain(&start->notify, start->systemd, payload);
}

static int run_detached(Start *start, const RuntimeContainer *container, GError **error) {
        const char *ready = find_first_state(start->request.notify);
        const HandOverCalls calls = {
                .start = start->request.runtime ? program_start : hand_over_start,
                .started = detached_started,
                .ended = start->notify.socket >= 0 ? detached_ended : NULL,
                .data = start,
        };
        HandOver result;

        if (!hand_over(container, start->systemd, ready, &calls, &result, error))
                return exit_status(*error);
        if (result.exec_errno != 0)
                return exec_failure(start, result.exec_errno, error);
        if (start->request.runtime)
                hand_over_settle(&result);
        if (!result.exited && !hand_over_notify(start, result.payload, error))
                return EXIT_KEYTURN;
        if (start->health && start->systemd && !result.exited)
                health_start(start->health, start->unit);
        remember_files(start);
        report_timing(start);
        if (result.exited)
                hand_over_end_as(result.status);
        return EXIT_SUCCESS;
}

static int run_program(Start *start, const RuntimeContainer *container, GError **error) {
        int status;

        remember_files(start);
        status = program_run(container, start->payload.stop_signal, error);
        if (status < 0)
                return exit_status(*error);
        report_timing(start);
        return status;
}

static int run_attached(Start *start, const RuntimeContainer *container, GError **error) {
        int status, errnum;

        if (!payload_started(start, getpid(), error) || !hand_over_notify(start, getpid(), error))
                return EXIT_KEYTURN;
        /* A service's. Nobody is here later, and the first check waits for the payload. */
        if (start->health && start->request.state_dir)
                health_start(start->health, start->unit);
        if (start->request.runtime)
                return run_program(start, container, error);
        if (is_stopped_by_image(start) && !stop_guard_fork(container, start->payload.stop_signal, &status, error))
                return status;
        remember_files(start);
        status = runtime_run(container, error);
        if (status < 0 || !exec_report_wait(&start->report, &errnum, error))
                return EXIT_KEYTURN;
        if (errnum != 0)
                return exec_failure(start, errnum, error);
        report_timing(start);
        return status;
}

static int run(Start *start, int listen_fds, GError **error) {
        const RuntimeContainer container = {
                .state_root = start->state_dir.path,
                .id = start->request.name,
                .spec = start->spec,
                .mounts = start->mounts,
                .environment = start->environment,
                .filter = start->filter,
                .label = { start->request.label.nested ? "rootcontext" : "context", start->labels.file },
                .root_mount = start->root.mount,
                .layer_mount = start->root.place == OVERLAY_DETACHED ? start->root.layer.mount : -1,
                .layer_place = start->root.layer_place,
                .secrets_mount = start->secrets.mount,
                .secrets_place = start->secrets.place,
                .request = &start->request,
                .userns = &start->userns,
                .preserve_fds = listen_fds,
                .report = &start->report,
                .timing = start->timing,
                .keep_groups = start->request.keep_groups || user_view_keeps_groups(),
        };

        if (start->request.runtime && !program_check(&container, start->payload.is_systemd, error))
                return EXIT_KEYTURN;
        return (start->request.detach ? run_detached : run_attached)(start, &container, error);
}

static int prepare_and_run(Start *start, const LaunchArgs *args, GError **error) {
        int listen_fds = host_listen_fds();

        start->timing = timing_new();
        /* First of all, while its place behind the activated sockets is free. */
        if (!exec_report_open(&start->report, 3 + listen_fds, error) ||
            !launch_args_read(args, &start->request, error))
                return EXIT_KEYTURN;
        start->systemd = notify_open(error);
        if (*error || !prepare(start, error))
                return exit_status(*error);
        return run(start, listen_fds, error);
}

int start_container(const LaunchArgs *args, Start **ret, GError **error) {
        Start *start = *ret = start_new();
        int status = prepare_and_run(start, args, error);

        payload_log_close(&start->log); /* what the caller may have to say is not the payload's */
        if (*error || !start->request.detach) {
                root_unmount(&start->root);
                state_dir_discard(&start->state_dir);
        }
        return status;
}

char *start_print_spec(const LaunchArgs *args, GError **error) {
        g_autoptr(Start) start = start_new();
        g_autofree char *unit = NULL;
        guint64 capabilities;

        if (!launch_args_read(args, &start->request, error))
                return NULL;
        unit = g_path_get_basename(start->request.state_dir ?: start->request.name);
        if (!host_gather(&start->host, error) || !find_owner(start, error) ||
            !find_in_stores(start, unit, true, error) ||
            !(start->userns.uids || find_user_namespace(start, unit, true, error)) ||
            !find_labels(start, NULL, error) || !root_peek(&start->root, error) || !read_identity(start, error) ||
            !find_mounts(start, error) || !find_hostname(start, error))
                return NULL;
        secrets_pretend(&start->request, &start->secrets);
        network_pretend(&start->request, &start->network);
        if (!describe(start, false, &capabilities, error) ||
            (start->request.runtime && !find_filter(start, capabilities, error)))
                return NULL;
        return spec_to_json(start->spec, error);
}
