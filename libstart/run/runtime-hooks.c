/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/container.h>
#include <libcrun/custom-handler.h>
#include <libcrun/seccomp.h>
#include <libcrun/status.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/oci/spec.h"
#include "libstart/run/runtime-hooks.h"

/* Where keyturn steps into libcrun's course of things. libcrun has one door for that, handlers, made for programs that
 * run something else than a plain executable in the container; but it keeps the list of handlers to itself. So the
 * linker's --wrap redirects a few of its calls to this file (meson.build lists them). In the order of a start:
 *
 *   libcrun_configure_handler       we are the handler
 *   libcrun_copy_seccomp            nothing to copy: the container's process has our memory, and the filter in it
 *     configure(), before mounts    the overlay is attached, in the container's mount namespace and nowhere else
 *     configure(), after mounts     no devices but those in /dev
 *     libcrun_apply_seccomp         the filter is installed from memory
 *     execute()                     the payload, with an environment made beforehand, or the errno
 *   libcrun_write_container_status  the payload's pid; the state for `crun exec`, written while the payload begins
 *   get_user_name                   not asked of NSS
 *
 * Indented: in the container's first process, a fork of the one that runs libcrun. */

int __wrap_libcrun_configure_handler(struct custom_handler_manager_s *manager, libcrun_context_t *context,
                                     libcrun_container_t *container, struct custom_handler_instance_s **out,
                                     libcrun_error_t *err);
int __wrap_libcrun_copy_seccomp(struct libcrun_seccomp_gen_ctx_s *ctx, const char *bpf, libcrun_error_t *err);
int __wrap_libcrun_apply_seccomp(int fd, int receiver_fd, const char *payload, size_t payload_length, char **flags,
                                 size_t flags_length, libcrun_error_t *err);
int __real_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err);
int __wrap_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err);
char *__wrap_get_user_name(uid_t uid);

/* libcrun's calls carry nothing of ours. */
static struct {
        const RuntimeContainer *container;
        bool filtered; /* the filter is in force; in the container's process only */
        pid_t payload;
} current;

void runtime_hooks_begin(const RuntimeContainer *container) {
        current.container = container;
        current.filtered = false;
        current.payload = 0;
}

pid_t runtime_hooks_end(void) {
        current.container = NULL;
        return current.payload;
}

/* The container's new mount namespace still shares its mounts with the host's: cut the way back first, or the host
 * would get the mount as well. Only for the mount that holds rootfs: libcrun makes all of them what the spec's
 * rootfsPropagation says, and a volume that asks for "rshared" is to go on sharing. MS_SLAVE and not MS_PRIVATE, so
 * that volumes from the same mount still see what the host mounts later. */
static int separate_from_host(const char *rootfs, libcrun_error_t *err) {
        g_autofree char *path = g_strdup(rootfs);

        for (;;) {
                if (mount(NULL, path, NULL, MS_SLAVE, NULL) == 0)
                        return 0;
                /* EINVAL: no mount point, so it is on the mount of a directory above */
                if (errno != EINVAL || g_str_equal(path, "/"))
                        return libcrun_make_error(err, errno, "Cannot separate the container's mounts from the host's");
                char *parent = g_path_get_dirname(path);

                g_free(path);
                path = parent;
        }
}

static int attach_root(int root_mount, const char *rootfs, libcrun_error_t *err) {
        int result;

        if (root_mount < 0)
                return 0;
        result = separate_from_host(rootfs, err);
        if (result < 0)
                return result;
        if (syscall(SYS_move_mount, root_mount, "", AT_FDCWD, rootfs, MOVE_MOUNT_F_EMPTY_PATH) < 0)
                return libcrun_make_error(err, errno, "Cannot mount the container's root on '%s'", rootfs);
        return 0;
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

static int configure(void *cookie, enum handler_configure_phase phase, libcrun_context_t *context,
                     libcrun_container_t *crun, const char *rootfs, libcrun_error_t *err) {
        if (phase == HANDLER_CONFIGURE_BEFORE_MOUNTS) {
                timing_mark(current.container->timing, TIMING_NAMESPACE);
                return attach_root(current.container->root_mount, rootfs, err);
        }
        if (phase == HANDLER_CONFIGURE_AFTER_MOUNTS) {
                timing_mark(current.container->timing, TIMING_MOUNTS);
                return forbid_devices(rootfs, err);
        }
        return 0;
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
        .configure_container = configure,
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

/* The container's process waits for this call, and decoding the filter to a file for it took 130 us. */
int __wrap_libcrun_copy_seccomp(struct libcrun_seccomp_gen_ctx_s *ctx, const char *bpf, libcrun_error_t *err) {
        return 0;
}

/* libcrun calls this at the right moment: while the capabilities are there, or after no_new_privs. SPEC_ALLOW is its
 * default, and Podman's: programs that want no speculation say so themselves. */
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

static int write_state_file(const char *state_root, const char *id, const char *name, const void *content,
                            size_t length, libcrun_error_t *err) {
        g_autofree char *path = g_build_filename(state_root, id, name, NULL);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0 || write(fd, content, length) != (ssize_t) length)
                return libcrun_make_error(err, errno, "Cannot write '%s'", path);
        return 0;
}

/* config.json and seccomp.bpf are for `crun exec`, which must give the same filter to what it executes: both are there
 * before the status file, without which crun knows no container. */
static int write_state(const char *state_root, const char *id, libcrun_error_t *err) {
        runtime_spec_schema_config_schema_process *process = current.container->spec->process;

        process->env = current.container->environment; /* the container's process has made its copy of the short one */
        process->env_len = g_strv_length(process->env);
        g_autofree char *json = spec_to_json(current.container->spec, NULL);
        gsize size = 0;
        const void *filter =
                current.container->filter ? g_bytes_get_data(current.container->filter, &size) : NULL;
        int r = json ? write_state_file(state_root, id, "config.json", json, strlen(json), err) : 0;

        if (r == 0 && filter)
                r = write_state_file(state_root, id, "seccomp.bpf", filter, size, err);
        return r;
}

int __wrap_libcrun_write_container_status(const char *state_root, const char *id,
                                          libcrun_container_status_t *status, libcrun_error_t *err) {
        int r = write_state(state_root, id, err);

        current.payload = status->pid;
        return r < 0 ? r : __real_libcrun_write_container_status(state_root, id, status, err);
}

/* The owner's name in the state file, which libcrun would ask NSS for: in a static program that loads libraries, and
 * with nss-systemd it talks to a daemon. Only root runs libstart. */
char *__wrap_get_user_name(uid_t uid) {
        return strdup("root");
}
