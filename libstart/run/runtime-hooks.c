/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/container.h>
#include <libcrun/custom-handler.h>
#include <libcrun/linux.h>
#include <libcrun/seccomp.h>
#include <libcrun/status.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/keyring.h"
#include "libstart/oci/spec.h"
#include "libstart/run/host-path.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/masks.h"
#include "libstart/run/mount-tree.h"
#include "libstart/run/mounts.h"
#include "libstart/run/root-file.h"
#include "libstart/run/runtime-hooks.h"

/* Where keyturn steps into libcrun's course of things. libcrun has one door for that, handlers, made for programs that
 * run something else than a plain executable in the container; but it keeps the list of handlers to itself. So the
 * linker's --wrap redirects a few of its calls to this file, and to runtime-shortcuts.c (meson.build lists them). In the
 * order of a start:
 *
 *   libcrun_configure_handler       we are the handler
 *   libcrun_run_linux_container     begin() comes before libcrun's own beginning of the container
 *     begin()                       a session keyring of its own, without the name that libcrun would give it;
 *                                   the root is attached, in the container's mount namespace and nowhere else; what
 *                                   every container has mounted is mounted, while libcrun still works in the parent,
 *                                   which is asked already for what will be waited for in the end
 *     libcrun_set_mounts            libcrun makes the mounts that this container has besides; masks
 *     libcrun_do_pivot_root         the same in fewer steps, where nothing is shared with the host
 *     libcrun_apply_seccomp         the filter is installed from memory
 *     execute()                     the payload, with an environment made beforehand, or the errno
 *   libcrun_write_container_status  the payload's pid; the state for `crun exec`, written while the payload begins
 *
 * Indented: in the container's first process, a fork of the one that runs libcrun. */

pid_t __real_libcrun_run_linux_container(libcrun_container_t *crun, container_entrypoint_t entrypoint, void *args,
                                         int *sync_socket, struct libcrun_dirfd_s *cgroup, libcrun_error_t *err);
pid_t __wrap_libcrun_run_linux_container(libcrun_container_t *crun, container_entrypoint_t entrypoint, void *args,
                                         int *sync_socket, struct libcrun_dirfd_s *cgroup, libcrun_error_t *err);
int __real_libcrun_set_mounts(struct container_entrypoint_s *args, libcrun_container_t *crun, const char *rootfs,
                              set_mounts_cb_t synchronise, void *data, libcrun_error_t *err);
int __wrap_libcrun_set_mounts(struct container_entrypoint_s *args, libcrun_container_t *crun, const char *rootfs,
                              set_mounts_cb_t synchronise, void *data, libcrun_error_t *err);
int __real_libcrun_do_pivot_root(libcrun_container_t *crun, bool no_pivot, const char *rootfs, libcrun_error_t *err);
int __wrap_libcrun_do_pivot_root(libcrun_container_t *crun, bool no_pivot, const char *rootfs, libcrun_error_t *err);
int __real_check_running_in_user_namespace(libcrun_error_t *err);
int __wrap_check_running_in_user_namespace(libcrun_error_t *err);
int __wrap_libcrun_configure_handler(struct custom_handler_manager_s *manager, libcrun_context_t *context,
                                     libcrun_container_t *container, struct custom_handler_instance_s **out,
                                     libcrun_error_t *err);
int __wrap_libcrun_apply_seccomp(int fd, int receiver_fd, const char *payload, size_t payload_length, char **flags,
                                 size_t flags_length, libcrun_error_t *err);
int __real_libcrun_write_container_status(const char *state_root, const char *id, libcrun_container_status_t *status,
                                          libcrun_error_t *err);
int __wrap_libcrun_write_container_status(const char *state_root, const char *id, libcrun_container_status_t *status,
                                          libcrun_error_t *err);

/* libcrun's calls carry nothing of ours. */
static struct {
        const RuntimeContainer *container;
        size_t n_own;
        container_entrypoint_t entrypoint; /* libcrun's */
        pid_t payload;
        /* In the container's process only: */
        int sync_socket; /* to libcrun in the parent */
        int root;        /* descriptor of its root */
        GError *error;   /* of begin(), for the parent when it can be told */
        bool filtered;   /* the filter is in force */
        bool is_filling; /* libcrun makes mounts, and fills /dev after them */
} current;

void runtime_hooks_begin(const RuntimeContainer *container, size_t n_own) {
        memset(&current, 0, sizeof current);
        current.container = container;
        current.n_own = n_own;
}

pid_t runtime_hooks_end(void) {
        current.container = NULL;
        return current.payload;
}

const RuntimeContainer *runtime_hooks_container(void) {
        return current.container;
}

static int fail(GError *error, libcrun_error_t *err) {
        return libcrun_make_error(err, 0, "%s", error->message);
}

/* Mounts that libcrun has to make: it then prepares the root in its own way, for propagation too. */
static bool has_further_mounts(void) {
        return current.container->spec->mounts_len > current.n_own;
}

/* In the container, its namespaces exist and nothing else is done. The parent goes through libcrun's preparations at
 * the same time, and waits for nobody. */
static bool prepare_mounts(GError **error) {
        const RuntimeContainer *container = current.container;
        runtime_spec_schema_defs_mount **mounts = container->spec->mounts;
        const DetachedMount attached[] = {
                { container->layer_mount, container->layer_place },
                { container->root_mount, container->spec->root->path },
        };

        timing_mark(container->timing, TIMING_NAMESPACE);
        if (unshare(CLONE_NEWCGROUP) < 0) /* libcrun does that later, but /sys/fs/cgroup is to show it */
                return error_set_errno(error, errno, "Cannot make the container's cgroup namespace");
        current.root = mount_tree_begin(container->spec->root->path, has_further_mounts(), attached,
                                        G_N_ELEMENTS(attached), error);
        const BindMountContext context = {
                .root_fd = current.root,
                .untrusted_list = container->untrusted_list,
                .is_shared = has_further_mounts(),
        };
        return current.root >= 0 &&
               mounts_make(&context, mounts, current.n_own, container->spec->process->cwd, error);
}

/* When the mounts are made libcrun tells its parent, and waits for the answer: there it would run hooks, of which we
 * have none. Asked before, the parent has answered when it matters, and neither waits for the other. In a trace, an
 * answer that nobody reads any more (the mounts failed) makes the parent's next read fail with ECONNRESET; the error
 * has come before it. */
typedef struct SyncMessage { /* the beginning of libcrun's; all 0: done, go on */
        int type;
        int error;
} SyncMessage;

static bool ask_parent(int socket, GError **error) {
        const SyncMessage message = { 0 };

        return TEMP_FAILURE_RETRY(write(socket, &message, sizeof message)) == sizeof message ||
               error_set_errno(error, errno, "Cannot speak to the container's parent");
}

static int await_answer(void *data, libcrun_error_t *err) {
        SyncMessage message;
        ssize_t n = TEMP_FAILURE_RETRY(read(current.sync_socket, &message, sizeof message));

        if (n == sizeof message && message.type == 0 && message.error == 0)
                return 0;
        return libcrun_make_error(err, n < 0 ? errno : 0, "libstart does not answer the container's first process");
}

static int begin(void *args, char *notify_socket, int sync_socket, libcrun_error_t *err) {
        current.sync_socket = sync_socket;
        (void) !(ask_parent(sync_socket, &current.error) && keyring_join_new(&current.error) &&
                 prepare_mounts(&current.error));
        return current.entrypoint(args, notify_socket, sync_socket, err);
}

pid_t __wrap_libcrun_run_linux_container(libcrun_container_t *crun, container_entrypoint_t entrypoint, void *args,
                                         int *sync_socket, struct libcrun_dirfd_s *cgroup, libcrun_error_t *err) {
        current.entrypoint = entrypoint;
        return __real_libcrun_run_linux_container(crun, begin, args, sync_socket, cgroup, err);
}

/* When its mounts are made, libcrun fills /dev by way of a path, "dev", and follows a link there. The container's /dev
 * is complete, and no link when we mounted on it; but somebody who shares the root directory may put one there, to the
 * host's, at this moment. So for that time no links are followed in the root: from when libcrun asks for its user
 * namespace, the last before, until await_answer(). Linux 5.14; before, this protection is not there. */
static bool follow_links(bool follow, libcrun_error_t *err) {
        const char *rootfs = current.container->spec->root->path;
        _cleanup_close_ int fd = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct mount_attr attributes = {
                .attr_set = follow ? 0 : MOUNT_ATTR_NOSYMFOLLOW,
                .attr_clr = follow ? MOUNT_ATTR_NOSYMFOLLOW : 0,
        };

        if (fd >= 0 && (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 ||
                        errno == EINVAL))
                return true;
        libcrun_make_error(err, errno, "Cannot protect the container's root, '%s'", rootfs);
        return false;
}

int __wrap_check_running_in_user_namespace(libcrun_error_t *err) {
        if (current.is_filling && !follow_links(false, err))
                return -1;
        return __real_check_running_in_user_namespace(err);
}

static int follow_and_await(void *data, libcrun_error_t *err) {
        current.is_filling = false;
        return follow_links(true, err) ? await_answer(data, err) : -1;
}

/* libcrun takes the source of a bind mount by its name, following links. So it gets the name of a descriptor: see
 * host-path.h. Adds them to `sources`. */
static bool open_further_sources(GArray *sources, GError **error) {
        const RuntimeContainer *container = current.container;

        for (size_t i = current.n_own; i < container->spec->mounts_len; i++) {
                runtime_spec_schema_defs_mount *mount = container->spec->mounts[i];
                int fd;

                if (g_strcmp0(mount->type, "bind") != 0)
                        continue;
                fd = host_path_open(mount->source, O_PATH, container->untrusted_list, error);
                if (fd < 0) {
                        g_prefix_error(error, "Cannot mount '%s' in the container: ", mount->source);
                        return false;
                }
                g_array_append_val(sources, fd);
                g_free(mount->source); /* this process's own copy of the spec */
                mount->source = g_strdup_printf("/proc/self/fd/%d", fd);
        }
        return true;
}

/* libcrun binds the root onto itself for its mounts: from then on that is the root. */
static bool reopen_root(const char *rootfs, GError **error) {
        close(current.root);
        current.root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return current.root >= 0 || error_set_errno(error, errno, "Cannot open the container's root, '%s'", rootfs);
}

/* It follows links in destinations, too, within the container. What is in the image can be looked at before, also as
 * the contents of /proc would be copied into a tmpfs on it; but what a volume brings only afterwards. */
static bool check_further_destinations(GError **error) {
        const runtime_spec_schema_config_schema *spec = current.container->spec;

        for (size_t i = current.n_own; i < spec->mounts_len; i++)
                if (!root_file_check_mount_point(current.root, spec->mounts[i]->destination + 1, error))
                        return false;
        return true;
}

static int make_further_mounts(struct container_entrypoint_s *args, libcrun_container_t *crun, const char *rootfs,
                               void *data, libcrun_error_t *err) {
        runtime_spec_schema_defs_mount **mounts = current.container->spec->mounts;
        g_autofree dev_t *devices = kernel_mounts_devices(current.root, mounts, current.n_own);
        g_autoptr(GArray) sources = g_array_new(FALSE, FALSE, sizeof(int));
        int r;

        if (!check_further_destinations(&current.error) || !open_further_sources(sources, &current.error))
                return fail(current.error, err);
        current.is_filling = true;
        r = __real_libcrun_set_mounts(args, crun, rootfs, follow_and_await, data, err);
        for (guint i = 0; i < sources->len; i++)
                close(g_array_index(sources, int, i));
        if (r < 0)
                return r;
        return reopen_root(rootfs, &current.error) &&
                               kernel_mounts_check(current.root, mounts, current.n_own, devices, &current.error) ?
                       0 :
                       fail(current.error, err);
}

int __wrap_libcrun_set_mounts(struct container_entrypoint_s *args, libcrun_container_t *crun, const char *rootfs,
                              set_mounts_cb_t synchronise, void *data, libcrun_error_t *err) {
        const runtime_spec_schema_config_schema *spec = current.container->spec;
        int r;

        if (current.error)
                return fail(current.error, err);
        r = has_further_mounts() ? make_further_mounts(args, crun, rootfs, data, err) : await_answer(data, err);
        if (r < 0)
                return r;
        if (!masks_make(current.root, spec, &current.error) ||
            ((spec->root->readonly || has_further_mounts()) &&
             !mount_tree_end(current.root, spec->root->readonly, &current.error)))
                return fail(current.error, err);
        timing_mark(current.container->timing, TIMING_MOUNTS);
        return 0;
}

int __wrap_libcrun_do_pivot_root(libcrun_container_t *crun, bool no_pivot, const char *rootfs, libcrun_error_t *err) {
        if (has_further_mounts())
                return __real_libcrun_do_pivot_root(crun, no_pivot, rootfs, err);
        return mount_tree_enter(current.root, &current.error) ? 0 : fail(current.error, err);
}

/* The last instructions of ours in the container: nothing may fail here without the parent's knowing it. `path` is
 * what libcrun found in PATH, or the bare name if it found nothing, which must not be looked for in the working
 * directory. */
static int execute(void *cookie, libcrun_container_t *crun, const char *path, char *const argv[]) {
        const RuntimeContainer *container = current.container;
        int errnum = ENOENT;

        timing_mark(container->timing, TIMING_EXEC);
        if (container->filter && !current.filtered) {
                errnum = EPERM; /* never without the filter, should libcrun ever not have asked for it */
        } else if (strchr(path, '/')) {
                execve(path, argv, container->environment);
                errnum = errno;
        }
        exec_report_failure(container->report, errnum);
        _exit(errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static struct custom_handler_s handler = {
        .name = "keyturn",
        .run_func = execute,
};

/* In the parent, once libcrun_container_run() has decided how to run the container. With context->detach set before
 * that, it would fork twice more; set now, it only does not wait. */
int __wrap_libcrun_configure_handler(struct custom_handler_manager_s *manager, libcrun_context_t *context,
                                     libcrun_container_t *crun, struct custom_handler_instance_s **out,
                                     libcrun_error_t *err) {
        *out = g_new0(struct custom_handler_instance_s, 1);
        (*out)->vtable = &handler;
        context->detach = current.container->detach;
        return 0;
}

/* libcrun calls this for every container, whether it knows of a filter or not, and at the right moment: while the
 * capabilities are there, or after no_new_privs. SPEC_ALLOW is its default, and Podman's: programs that want no
 * speculation say so themselves. */
int __wrap_libcrun_apply_seccomp(int fd, int receiver_fd, const char *payload, size_t payload_length, char **flags,
                                 size_t flags_length, libcrun_error_t *err) {
        struct sock_fprog program;
        gsize size;

        if (!current.container->filter)
                return 0;
        program.filter = (struct sock_filter *) g_bytes_get_data(current.container->filter, &size);
        program.len = (unsigned short) (size / sizeof(struct sock_filter));
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) < 0)
                return libcrun_make_error(err, errno, "Cannot install the seccomp filter");
        current.filtered = true;
        return 0;
}

static int open_state_file(const char *state_root, const char *id, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(state_root, id, name, NULL);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0)
                error_set_errno(error, errno, "Cannot write '%s'", path);
        return fd;
}

static bool write_config(const char *state_root, const char *id, GError **error) {
        _cleanup_close_ int fd = open_state_file(state_root, id, "config.json", error);
        runtime_spec_schema_config_schema spec = *current.container->spec;
        runtime_spec_schema_config_schema_process process = *spec.process;

        spec.process = &process;
        process.env = current.container->environment;
        process.env_len = g_strv_length(process.env);
        return fd >= 0 && spec_write_json(&spec, fd, error);
}

static bool write_filter(const char *state_root, const char *id, GError **error) {
        _cleanup_close_ int fd = open_state_file(state_root, id, "seccomp.bpf", error);
        gsize size;
        const void *filter = g_bytes_get_data(current.container->filter, &size);

        if (fd >= 0 && write(fd, filter, size) != (ssize_t) size)
                error_set_errno(error, errno, "Cannot write the seccomp filter");
        return !*error;
}

/* config.json and seccomp.bpf are for `crun exec`, which must give the same filter to what it executes: both are there
 * before the status file, without which crun knows no container. */
static int write_state(const char *state_root, const char *id, libcrun_error_t *err) {
        g_autoptr(GError) error = NULL;

        if (!write_config(state_root, id, &error) ||
            (current.container->filter && !write_filter(state_root, id, &error)))
                return fail(error, err);
        return 0;
}

int __wrap_libcrun_write_container_status(const char *state_root, const char *id, libcrun_container_status_t *status,
                                          libcrun_error_t *err) {
        int r = write_state(state_root, id, err);

        current.payload = status->pid;
        return r < 0 ? r : __real_libcrun_write_container_status(state_root, id, status, err);
}
