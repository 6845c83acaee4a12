/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libcrun/container.h>
#include <libcrun/custom-handler.h>
#include <libcrun/status.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/run/runtime.h"

/* libcrun has handlers for programs that run something else than a plain executable in the container (WebAssembly,
 * virtual machines). keyturn is such a handler for three reasons:
 *  - to put the overlay in place inside the container's mount namespace, and nowhere else;
 *  - to execute the payload itself, with an environment made beforehand: libcrun's own way is quadratic in the number
 *    of variables; and to report the errno of a failed execve;
 *  - to tell libcrun not to wait: libcrun_container_run() of a container with context->detach set forks twice more
 *    before it begins, so detaching is asked for only once it has begun (see find_handler()).
 * libcrun finds handlers in a list that it keeps to itself; the linker's --wrap gives it ours instead. */
int __wrap_libcrun_configure_handler(struct custom_handler_manager_s *manager, libcrun_context_t *context,
                                     libcrun_container_t *container, struct custom_handler_instance_s **out,
                                     libcrun_error_t *err);

/* libcrun tells nobody the payload's pid but the state file, as which it passes by here. */
int __real_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err);
int __wrap_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err);

/* The owner's name in the state file, which libcrun would ask NSS for: in a static program that loads libraries, and
 * with nss-systemd it talks to a daemon. Only root runs libstart. */
char *__wrap_get_user_name(uid_t uid);

/* Set while libcrun runs: its call of __wrap_libcrun_write_container_status() carries nothing of ours. */
static pid_t payload;

static bool set_error(libcrun_error_t *err, GError **error) {
        int status = *err ? (*err)->status : 0;
        const char *message = *err ? (*err)->msg : "libcrun failed without a reason";

        if (status > 0)
                error_set_errno(error, status, "%s", message);
        else
                error_set(error, KT_ERROR_FAILED, "%s", message);
        libcrun_error_release(err);
        return false;
}

static void log_output(int errnum, const char *message, int verbosity, void *arg) {
        int priority = verbosity == LIBCRUN_VERBOSITY_ERROR   ? LOG_ERR :
                       verbosity == LIBCRUN_VERBOSITY_WARNING ? LOG_WARNING :
                                                                LOG_DEBUG;

        if (errnum)
                log_message(priority, "%s: %s", message, g_strerror(errnum));
        else
                log_message(priority, "%s", message);
}

/* No device node of an image, or of a root directory, is usable: Podman forbids them by the cgroup's device rules,
 * which libcrun does not make for us. The nodes that the container is to have are in /dev, another mount. Set last,
 * because libcrun clears it when it binds the root onto itself. */
static int forbid_devices(const char *rootfs, libcrun_error_t *err) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NODEV };

        if (syscall(SYS_mount_setattr, AT_FDCWD, rootfs, 0, &attributes, sizeof attributes) < 0)
                return libcrun_make_error(err, errno, "Cannot forbid the device files of the container's root");
        return 0;
}

/* In the container's new mount namespace, whose mounts are still shared with the host's: cut the way back first, or
 * the host would get the mount as well. MS_SLAVE and not MS_PRIVATE, so that volumes that ask for it still see what
 * the host mounts later. */
static int attach_root(int root_mount, const char *rootfs, libcrun_error_t *err) {
        if (root_mount < 0)
                return 0;
        if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
                return libcrun_make_error(err, errno, "Cannot separate the container's mounts from the host's");
        if (syscall(SYS_move_mount, root_mount, "", AT_FDCWD, rootfs, MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return libcrun_make_error(err, errno, "Cannot mount the container's root on '%s'", rootfs);
        return 0;
}

static int configure(void *cookie, enum handler_configure_phase phase, libcrun_context_t *context,
                     libcrun_container_t *crun, const char *rootfs, libcrun_error_t *err) {
        const RuntimeContainer *container = cookie;

        if (phase == HANDLER_CONFIGURE_BEFORE_MOUNTS) {
                timing_mark(container->timing, TIMING_NAMESPACE);
                return attach_root(container->root_mount, rootfs, err);
        }
        if (phase == HANDLER_CONFIGURE_AFTER_MOUNTS) {
                timing_mark(container->timing, TIMING_MOUNTS);
                return forbid_devices(rootfs, err);
        }
        return 0;
}

/* The last instructions of ours in the container: nothing may fail here without the parent's knowing it. `path` is
 * what libcrun found in PATH, or the bare name if it found nothing, which must not be looked for in the working
 * directory. */
static int execute(void *cookie, libcrun_container_t *crun, const char *path, char *const argv[]) {
        const RuntimeContainer *container = cookie;
        int errnum = ENOENT;

        timing_mark(container->timing, TIMING_EXEC);
        if (strchr(path, '/')) {
                execve(path, argv, (char *const *) container->environment);
                errnum = errno;
        }
        exec_report_failure(container->report, errnum);
        _exit(errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static struct custom_handler_s handler = {
        .name = "keyturn",
        .run_func = execute,
        .configure_container = configure,
};

/* libcrun calls this in the parent, after it has decided how to run the container and before it makes it. */
int __wrap_libcrun_configure_handler(struct custom_handler_manager_s *manager, libcrun_context_t *context,
                                     libcrun_container_t *crun, struct custom_handler_instance_s **out,
                                     libcrun_error_t *err) {
        const RuntimeContainer *container = context->output_handler_arg;

        *out = g_new0(struct custom_handler_instance_s, 1);
        (*out)->vtable = &handler;
        (*out)->cookie = (void *) container;
        context->detach = container->detach;
        return 0;
}

int __wrap_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err) {
        payload = status->pid;
        return __real_libcrun_write_container_status(state_root, id, status, err);
}

char *__wrap_get_user_name(uid_t uid) {
        return strdup("root");
}

/* libcrun needs PATH, for the look-up, and HOME, which it would else read from the container's passwd. */
static void replace_environment(runtime_spec_schema_config_schema *spec, const char *path) {
        runtime_spec_schema_config_schema_process *process = spec->process;

        for (size_t i = 0; i < process->env_len; i++)
                free(process->env[i]);
        free(process->env);
        process->env = g_new0(char *, 3);
        process->env[0] = g_strconcat("PATH=", path, NULL);
        process->env[1] = g_strdup("HOME=/");
        process->env_len = 2;
}

/* libcrun takes a ready filter as an annotation, in base64. It is added to the map that libcrun looks annotations up
 * in, and not to the config.json in the state, which it would triple: `crun exec` has the filter from a file of its
 * own. */
static void add_filter(libcrun_container_t *crun, GBytes *filter) {
        json_map_string_string **annotations = &crun->container_def->annotations;
        g_autofree char *base64 = NULL;
        gsize size;

        if (!filter)
                return;
        const guchar *bytes = g_bytes_get_data(filter, &size);
        base64 = g_base64_encode(bytes, size);
        if (!*annotations)
                *annotations = g_new0(json_map_string_string, 1);
        append_json_map_string_string(*annotations, "run.oci.seccomp_bpf_data", base64);
        free_string_map(crun->annotations);
        crun->annotations = make_string_map_from_json(*annotations);
}

int runtime_run(const RuntimeContainer *container, GError **error) {
        libcrun_error_t err = NULL;
        libcrun_context_t context = {
                .state_root = container->state_root,
                .id = container->id,
                .bundle = container->state_root,
                .output_handler = log_output,
                .output_handler_arg = (void *) container,
                .fifo_exec_wait_fd = -1,
                .preserve_fds = container->preserve_fds + 1, /* the report's writer stays open until the exec */
                .force_no_cgroup = true,                     /* systemd has made the cgroup, with the unit's limits */
        };
        libcrun_container_t *crun;
        int result = -1;

        crun_set_output_handler(log_output, NULL);
        crun = libcrun_container_load_from_memory(container->spec, &err);
        if (!crun) {
                set_error(&err, error);
                return -1;
        }
        replace_environment(crun->container_def, container->path);
        add_filter(crun, container->filter);
        timing_mark(container->timing, TIMING_RUNTIME);
        result = libcrun_container_run(&context, crun, container->detach ? LIBCRUN_RUN_OPTIONS_KEEP : 0, &err);
        if (result < 0)
                set_error(&err, error);
        else if (container->detach)
                result = (int) payload;
        libcrun_container_free(crun);
        return result;
}
