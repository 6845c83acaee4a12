/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/enter/payload-place.h"
#include "libstart/value/runtime-kind.h"

#define FILE_MAX (4U << 20)

bool payload_check_running(const ContainerUnit *container, GError **error) {
        static const char *const states[] = { "active", "reloading", NULL };

        if (!g_strv_contains(states, container->active)) {
                g_autofree char *logs = container_unit_print_logs(container);

                return error_set(error, KT_ERROR_FAILED, "%s is not running: it is %s; see %s", container->unit,
                                 container->state, logs);
        }
        if (container->pid == 0)
                return error_set(error, KT_ERROR_FAILED, "The payload of %s has ended", container->unit);
        return container_unit_is_started(container) ||
               error_set(error, KT_ERROR_FAILED, "%s was started by Podman; to hand it over, systemctl restart %s",
                         container->unit, container->unit);
}

static bool has_ended(const ContainerUnit *container, GError **error) {
        return error_set(error, KT_ERROR_NOT_FOUND, "The payload of %s has ended", container->unit);
}

bool payload_check_lives(const ContainerUnit *container, int payload, GError **error) {
        struct pollfd ask = { .fd = payload, .events = POLLIN };
        int n = poll(&ask, 1, 0);

        if (n < 0)
                return error_set_errno(error, errno, "Cannot tell whether the payload of %s runs", container->unit);
        return n == 0 || has_ended(container, error);
}

/* One that has been reaped since systemd was asked is gone; its number may be another's. */
static bool check_cgroup(const ContainerUnit *container, guint pid, int fd, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%u/cgroup", pid);
        g_autofree char *text = NULL, *expected = g_strdup_printf("0::%s", container->cgroup);
        g_autoptr(GError) problem = NULL;

        if (!g_file_get_contents(path, &text, NULL, &problem))
                return payload_check_lives(container, fd, error) &&
                       error_set(error, KT_ERROR_FAILED, "%s", problem->message);
        return strstr(text, expected) || has_ended(container, error);
}

static int open_process(const ContainerUnit *container, guint pid, GError **error) {
        _cleanup_close_ int fd = pid > 0 ? (int) syscall(SYS_pidfd_open, (pid_t) pid, 0) : -1;

        if (fd >= 0)
                return check_cgroup(container, pid, fd, error) ? fd_steal(&fd) : -1;
        if (pid == 0 || errno == ESRCH)
                has_ended(container, error);
        else
                error_set_errno(error, errno, "Cannot find the payload of %s", container->unit);
        return -1;
}

int payload_open(const ContainerUnit *container, GError **error) {
        return open_process(container, container->pid, error);
}

bool payload_has_process(const ContainerUnit *container, guint pid, GError **error) {
        _cleanup_close_ int fd = open_process(container, pid, error);

        return fd >= 0;
}

libcrun_container_t *payload_read_config(const ContainerUnit *container, GError **error) {
        g_autofree char *root = container_unit_state_dir(container);
        g_autofree char *path = g_build_filename(root, container->args->name, "config.json", NULL);
        libcrun_error_t err = NULL;
        libcrun_container_t *config = libcrun_container_load_from_file(path, &err);

        if (!config) {
                error_set(error, KT_ERROR_FAILED, "Cannot read '%s': %s", path, err->msg);
                libcrun_error_release(&err);
        }
        return config;
}

const char *payload_find_annotation(const libcrun_container_t *config, const char *key) {
        const json_map_string_string *annotations = config->container_def->annotations;

        for (size_t i = 0; annotations && i < annotations->len; i++)
                if (g_str_equal(annotations->keys[i], key))
                        return annotations->values[i];
        return NULL;
}

/* Where it cannot come back, whatever it did next would be done there. */
static void leave(int own) {
        if (setns(own, CLONE_NEWNS) == 0)
                return;
        log_error("Cannot leave the container's namespace: %s", error_describe(errno));
        exit(EXIT_KEYTURN);
}

static guint64 mount_of_root(void) {
        struct statx st;

        return statx(AT_FDCWD, "/", 0, STATX_MNT_ID, &st) == 0 ? st.stx_mnt_id : 0;
}

/* Enter by the pidfd: also where the payload has moved its root, a process that enters the namespace is at its top.
 * In there, nothing is executed or loaded: this one call only. Never the host's, whoever the payload is. */
static int open_other_root(guint64 own_root, bool clone) {
        if (mount_of_root() == own_root) {
                errno = EXDEV;
                return -1;
        }
        return clone ? (int) syscall(SYS_open_tree, AT_FDCWD, "/",
                                     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE) :
                       open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_root(int payload, bool clone, GError **error) {
        _cleanup_close_ int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
        _cleanup_close_ int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        guint64 own_root = mount_of_root();
        int root, errnum;

        if (own < 0 || setns(payload, CLONE_NEWNS) < 0)
                return error_negative_errno(error, errno, "Cannot enter the container's mount namespace");
        root = open_other_root(own_root, clone);
        errnum = errno;
        leave(own);
        if (here >= 0)
                (void) !fchdir(here);
        return root >= 0 ? root : error_negative_errno(error, errnum, "Cannot open the container's root");
}

bool payload_is_in_sandbox(const ContainerUnit *container) {
        const char *runtime = container->args->runtime;

        return runtime && runtime_kind_find(runtime) == RUNTIME_RUNSC;
}

int payload_open_files(const ContainerUnit *container, int payload, bool clone, GError **error) {
        if (!payload_is_in_sandbox(container))
                return open_root(payload, clone, error);
        return error_negative(
                error, KT_ERROR_UNSUPPORTED,
                "%s is in gVisor's sandbox, where nobody sees its files from outside: use keyturnctl exec (cat, tar, "
                "id) in their place",
                container->unit);
}

bool payload_is_in_place(const ContainerUnit *container, const libcrun_container_t *config) {
        if (payload_place_is_kept((pid_t) container->pid, config))
                return true;
        log_warning("The payload of %s has made a user namespace, and mounts in it what it likes: what is shown may "
                    "not be all that there is in the container",
                    container->unit);
        return false;
}

char *payload_read_file(int root, const char *path) {
        _cleanup_close_ int place = resolve_open(root, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        _cleanup_close_ int fd = place >= 0 ? fd_open_regular(place) : -1;
        char *text = NULL;

        return fd >= 0 && file_read_fd(fd, path, FILE_MAX, &text, NULL, NULL) ? text : NULL;
}
