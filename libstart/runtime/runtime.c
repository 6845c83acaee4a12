/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libcrun/cgroup-utils.h>
#include <libcrun/container.h>
#include <libcrun/status.h>
#include <libcrun/string_map.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/mounts.h"
#include "libstart/runtime/runtime-hooks.h"
#include "libstart/runtime/runtime-state.h"
#include "libstart/runtime/runtime.h"

/* How libcrun is asked to run a container: with the spec, less what is ours (take_remainder()), an environment of two
 * variables, and a handler. What happens then, step by step, is told in runtime-hooks.c. */

/* Before what libcrun says: what to do about it. "" where that is not known. */
static const char *find_advice(const char *message, int status) {
        static const struct {
                const char *start;
                int status;      /* 0: any */
                bool for_a_user; /* only where a user's container may have less than root's */
                const char *advice;
        } all[] = {
                { "clone", EAGAIN, false, ERROR_TOO_FEW_TASKS },
                { "cannot fork", EAGAIN, false, ERROR_TOO_FEW_TASKS },
                { "setrlimit `", 0, true,
                  "A user's limit (Ulimit=) is at most that of her manager (systemctl --user show, DefaultLimit...): "
                  "lower it, or have root raise that, by Limit...= in [Service] of user@.service: " },
                { "open `/proc/sys/", 0, true,
                  "The kernel lets this user not change a setting (Sysctl=): remove it, or have root set it for the "
                  "machine, by sysctl.d(5): " },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_str_has_prefix(message, all[i].start) && (all[i].status == 0 || all[i].status == status) &&
                    (!all[i].for_a_user || user_view_is_entered()))
                        return all[i].advice;
        return "";
}

static void set_error(libcrun_error_t *err, GError **error) {
        int status = *err ? (*err)->status : 0;
        const char *message = *err ? (*err)->msg : "libcrun failed without a reason";

        if (status > 0)
                error_set_errno(error, status, "%s%s", find_advice(message, status), message);
        else
                error_set(error, KT_ERROR_FAILED, "%s", message);
        libcrun_error_release(err);
}

static void log_output(int errnum, const char *message, int verbosity, void *arg) {
        int priority = verbosity == LIBCRUN_VERBOSITY_ERROR   ? LOG_ERR :
                       verbosity == LIBCRUN_VERBOSITY_WARNING ? LOG_WARNING :
                                                                LOG_DEBUG;

        if (errnum)
                log_message(priority, "%s: %s", message, error_describe(errnum));
        else
                log_message(priority, "%s", message);
}

/* libcrun needs PATH, for looking the payload up, and HOME, which it would else read from the container's passwd. The
 * rest would only cost: libcrun sets each variable on its own, and glibc looks at all earlier ones every time (5000
 * variables: 40 ms). */
static char **make_short_environment(char **environment) {
        const char *path = g_environ_getenv(environment, "PATH");
        char **result = g_new0(char *, 3);

        result[0] = g_strconcat("PATH=", path ?: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                NULL);
        result[1] = g_strdup("HOME=/");
        return result;
}

/* A new UTS namespace begins with the host's name. Setting the same again wakes all who wait for the host's name to
 * change, in whatever namespace: journald reads it anew for every container that starts. */
static bool has_hosts_name(const runtime_spec_schema_config_schema *spec) {
        char name[HOST_NAME_MAX + 1];

        return gethostname(name, sizeof name) == 0 && g_strcmp0(spec->hostname, name) == 0;
}

/* What libcrun gets to see of the spec: without what the hooks do in its place. Shallow copies; nothing is freed but
 * the array of the mounts. */
typedef struct Remainder {
        runtime_spec_schema_config_schema spec;
        runtime_spec_schema_config_schema_root root;
        runtime_spec_schema_config_linux linux_;
        runtime_spec_schema_config_schema_process process;
} Remainder;

static void take_remainder(const RuntimeContainer *container, char **environment, Remainder *ret) {
        *ret = (Remainder) {
                .spec = *container->spec,
                .root = *container->spec->root,
                .linux_ = *container->spec->linux,
                .process = *container->spec->process,
        };
        ret->spec.root = &ret->root;
        ret->spec.linux = &ret->linux_;
        ret->spec.process = &ret->process;
        ret->spec.mounts = mount_plan_list_for_libcrun(container->mounts, &ret->spec.mounts_len);
        if (has_hosts_name(container->spec))
                ret->spec.hostname = NULL;
        ret->root.readonly = false; /* places for mounts are made in it after libcrun's, too */
        ret->linux_.masked_paths_len = 0;
        ret->linux_.readonly_paths_len = 0;
        if (runtime_hooks_make_nodes(container))
                ret->linux_.devices_len = 0;
        ret->process.selinux_label = ret->process.apparmor_profile = NULL;
        if (ret->spec.mounts_len == 0)
                ret->linux_.mount_label = NULL;
        ret->process.env = environment;
        ret->process.env_len = g_strv_length(environment);
}

/* The host's devices, or a volume's. libcrun would not see that in the mounts that are left for it, and give the host
 * another /dev/ptmx. */
static bool has_bound_dev(const RuntimeContainer *container) {
        const ContainerMount *dev = mount_plan_find(container->mounts, "/dev");

        return dev && dev->is_bind;
}

static bool divide_mounts(const RuntimeContainer *container, GError **error) {
        libcrun_error_t err = NULL;
        bool cgroup2 = libcrun_get_cgroup_mode(&err) == CGROUP_MODE_UNIFIED;

        if (err)
                libcrun_error_release(&err); /* and libcrun will say it again */
        if (!mount_plan_divide(container->mounts, cgroup2, error))
                return false;
        mount_plan_print(container->mounts, container->spec);
        return true;
}

/* What the hooks of the container say, which libcrun would throw away. Transfer full. */
static char *errors_path(const RuntimeContainer *container) {
        return g_build_filename(container->state_root, "hooks.errors", NULL);
}

/* libcrun opens the file that this annotation names. The hooks are not to see it among the container's own. */
static string_map *make_annotations(json_map_string_string *annotations, const RuntimeContainer *container) {
        g_autofree char *path = container->spec->hooks ? errors_path(container) : NULL;
        string_map *map;

        if (!path)
                return make_string_map_from_json(annotations);
        append_json_map_string_string(annotations, "run.oci.hooks.stderr", path);
        map = make_string_map_from_json(annotations);
        annotations->len--;
        g_free(annotations->keys[annotations->len]);
        g_free(annotations->values[annotations->len]);
        return map;
}

/* libcrun has logged which hook it was. */
static void set_hooks_error(const RuntimeContainer *container, GError **error) {
        g_autofree char *path = errors_path(container), *said = NULL;

        if (g_file_get_contents(path, &said, NULL, NULL))
                g_strstrip(said);
        error_set(error, KT_ERROR_FAILED, "A hook failed%s%s", said && said[0] ? ": " : "", said ?: "");
}

/* Not libcrun_container_load_from_memory(): that would parse what we would have to print first.
 *
 * With the annotation libcrun just calls setgroups(2), or does not, and does not ask /proc before whether a user
 * namespace forbids it.
 * No user can have said anything else: annotations of this kind are refused. */
static libcrun_container_t make_container(Remainder *remainder, const RuntimeContainer *container) {
        json_map_string_string *annotations = remainder->spec.annotations;

        append_json_map_string_string(annotations, "run.oci.keep_original_groups",
                                      container->keep_groups ? "1" : "0");
        if (container->label.text)
                append_json_map_string_string(annotations, "run.oci.mount_context_type", container->label.option);
        return (libcrun_container_t) {
                .container_def = &remainder->spec,
                .annotations = make_annotations(annotations, container),
                .config_file_content = (char *) "", /* written with the status */
        };
}

static bool prepare_mounts(RuntimeHooks *hooks, GError **error) {
        const RuntimeContainer *container = hooks->container;

        hooks->mounts = (BindMountContext) {
                .root_fd = -1,
                .request = container->request,
                .userns = container->userns,
                .label = container->label,
                .is_shared = true, /* with others, as this is the host's mount namespace */
        };
        if (!mounts_prepare(container->mounts, container->spec, &hooks->mounts, error))
                return false;
        hooks->mounts.is_shared = runtime_hooks_leave_mounts(container);
        return true;
}

int runtime_run(const RuntimeContainer *container, GError **error) {
        g_auto(GStrv) short_environment = make_short_environment(container->environment);
        RuntimeHooks hooks = { .container = container };
        Remainder remainder;
        libcrun_error_t err = NULL;
        libcrun_context_t context = {
                .state_root = container->state_root,
                .id = container->id,
                .bundle = container->state_root,
                .output_handler = log_output,
                .fifo_exec_wait_fd = -1,
                .preserve_fds = container->preserve_fds + 1, /* the report's writer stays open until the exec */
                .keep_dev = has_bound_dev(container),
                .keep_std_streams = true, /* see service/payload-log.h and service/payload-input.h */
                .force_no_cgroup = true,  /* systemd has made the cgroup, with the unit's limits */
                .cgroup_dirfd = container->cgroup,
                .no_new_keyring = true, /* it would have the container's name: runtime-hooks.c */
                .detach = container->request->detach,
                .custom_handler = runtime_hooks_handler(),
                .custom_handler_cookie = &hooks,
        };
        int result;

        if (!divide_mounts(container, error) || (container->spec->hooks && !runtime_enter_bundle(container, error)) ||
            !prepare_mounts(&hooks, error))
                return -1;
        take_remainder(container, short_environment, &remainder);
        libcrun_container_t crun = make_container(&remainder, container);
        crun_set_output_handler(log_output, NULL);
        timing_mark(container->timing, TIMING_RUNTIME);
        result = libcrun_container_run(&context, &crun, LIBCRUN_RUN_OPTIONS_KEEP | LIBCRUN_RUN_OPTIONS_NO_FORK, &err);

        if (crun.cleanup_private_data)
                crun.cleanup_private_data(crun.private_data);
        free_string_map(crun.annotations);
        g_free(remainder.spec.mounts);
        mounts_close(container->mounts);
        if (result < 0 && !err && container->spec->hooks)
                set_hooks_error(container, error);
        else if (result < 0)
                set_error(&err, error);
        return result >= 0 && container->request->detach ? (int) hooks.payload : result;
}

bool runtime_describe(const RuntimeContainer *container, GError **error) {
        g_autofree char *directory = g_build_filename(container->state_root, container->id, NULL);

        return directory_make(directory, 0700, error) && runtime_state_describe(container, error);
}

bool runtime_adopt(const RuntimeContainer *container, pid_t process, GError **error) {
        libcrun_error_t err = NULL;

        if (runtime_state_adopt(container, process, &err) >= 0)
                return true;
        set_error(&err, error);
        return false;
}

/* What may get no signal is there: a container's root is none of ours for who has not CAP_KILL (keyturn-userns@). */
static int is_running(libcrun_container_status_t *status, libcrun_error_t *err) {
        int running = libcrun_is_container_running(status, err);

        if (running >= 0 || crun_error_get_errno(err) != EPERM)
                return running;
        libcrun_error_release(err);
        return libcrun_check_pid_valid(status, err);
}

/* Where the state cannot be read, whoever wrote it was killed meanwhile. */
bool runtime_is_running(const char *state_root, const char *id) {
        libcrun_container_status_t status = { 0 };
        libcrun_error_t err = NULL;
        int running = 0;

        if (libcrun_read_container_status(&status, state_root, id, &err) >= 0)
                running = is_running(&status, &err);
        if (err)
                libcrun_error_release(&err);
        libcrun_free_container_status(&status);
        return running > 0;
}

bool runtime_kill(const char *state_root, const char *id, int signal) {
        libcrun_context_t context = { .state_root = state_root, .id = id };
        g_autofree char *number = g_strdup_printf("%d", signal);
        libcrun_error_t err = NULL;
        int r = libcrun_container_kill(&context, id, number, &err);

        if (err)
                libcrun_error_release(&err);
        return r >= 0;
}
