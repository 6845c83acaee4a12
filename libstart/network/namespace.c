/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/network/namespace.h"

/* It ends with its parent. In a user namespace below, root of this one may do everything to it, with whatever
 * capabilities: a container that sees it (--pid=host) would get at the host's files by its root directory. */
static void begin_inside(void) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!user_view_is_entered()) /* where its parent could not look at it, and containers see nobody */
                prctl(PR_SET_DUMPABLE, 0);
}

static int enter_userns(const char *userns) {
        _cleanup_close_ int fd = -1;

        if (!userns)
                return 0;
        fd = open(userns, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        return fd < 0 || setns(fd, CLONE_NEWUSER) < 0 ? errno : 0;
}

static bool is_user_namespace(const char *path) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        return fd >= 0 && ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWUSER;
}

/* In a directory is what keyturn-userns@.service has made, if it could: without an image it cannot know the ids.
 * Until the container's start knows them, and asks again, the network is the machine's, and the container may do less
 * in it. NULL: the machine's. Transfer full. */
static char *find_userns(const char *userns) {
        g_autoptr(GDir) directory = NULL;
        const char *name;

        if (!userns || !g_str_has_prefix(userns, PATH_USERNS "/"))
                return g_strdup(userns);
        directory = g_dir_open(userns, 0, NULL);
        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(userns, name, NULL);

                if (is_user_namespace(path))
                        return g_steal_pointer(&path);
        }
        return NULL;
}

G_NORETURN static void make_inside(const char *userns, int parent) {
        int problem;
        char byte;

        begin_inside();
        problem = enter_userns(userns);
        if (problem == 0 && unshare(CLONE_NEWNET) < 0)
                problem = errno;
        /* Where the parent cannot be told, it waits for our end. The read ends when the parent closes its end, or
         * with it. */
        if (write(parent, &problem, sizeof problem) == sizeof problem)
                (void) !read(parent, &byte, 1);
        _exit(0);
}

static bool mount_made(const char *userns, int child, pid_t pid, const char *pin, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/net", (int) pid);
        int problem = 0;

        if (read(child, &problem, sizeof problem) != sizeof problem)
                return error_set(error, KT_ERROR_FAILED, "Cannot make a network namespace: its maker has ended");
        if (problem != 0)
                return error_set_errno(error, problem, "Cannot make a network namespace%s%s", userns ? " in " : "",
                                       userns ?: "");
        return mount(path, pin, NULL, MS_BIND, NULL) == 0 || error_set_errno(error, errno, "Cannot mount '%s'", pin);
}

/* The pin's mount namespace is the machine's also where its user namespace is another: the child makes the namespace
 * and waits while its parent mounts it. */
bool namespace_pin(const char *pin, const char *userns, GError **error) {
        _cleanup_close_ int file = open(pin, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
        g_autofree char *owner = find_userns(userns);
        int ends[2] = { -1, -1 }; /* the parent's, and the child's */
        bool ok = false;
        pid_t pid = -1;

        if (file < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", pin);
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
                pid = fork();
        if (pid == 0) {
                fd_close(&ends[0]);
                make_inside(owner, ends[1]);
        }
        fd_close(&ends[1]);
        if (pid > 0)
                ok = mount_made(owner, ends[0], pid, pin, error);
        else
                error_set_errno(error, errno, "Cannot make a process");
        fd_close(&ends[0]);
        if (pid > 0)
                (void) process_wait(pid, NULL, 0);
        return ok;
}

int namespace_open(const char *pin) {
        _cleanup_close_ int fd = open(pin, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

        return fd >= 0 && ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET ? fd_steal(&fd) : -1;
}

bool namespace_unpin(const char *pin, GError **error) {
        /* One that a kill has interrupted may be mounted twice. */
        while (umount2(pin, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
                ;
        if (errno != EINVAL && errno != ENOENT)
                return error_set_errno(error, errno, "Cannot unmount '%s'", pin);
        return unlink(pin) == 0 || errno == ENOENT || error_set_errno(error, errno, "Cannot remove '%s'", pin);
}

/* Ids in values are those of the container. Where the namespace belongs to the machine, we are there already: EINVAL.
 */
static int enter_owner(int ns) {
        _cleanup_close_ int owner = ioctl(ns, NS_GET_USERNS);

        return owner < 0 || (setns(owner, CLONE_NEWUSER) < 0 && errno != EINVAL) ? errno : 0;
}

/* A name's dots are slashes in the path; it has no slashes itself (sysctl_parse()). Returns an errno value. */
static int set_inside(const char *pin, const char *name, const char *value) {
        _cleanup_close_ int ns = open(pin, O_RDONLY | O_CLOEXEC), fd = -1;
        g_autofree char *path = g_strconcat("/proc/sys/", name, NULL);
        int problem = ns < 0 ? errno : enter_owner(ns);

        g_strdelimit(path, ".", '/');
        if (problem != 0)
                return problem;
        if (setns(ns, CLONE_NEWNET) < 0)
                return errno;
        fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 || !fd_write_all(fd, value, strlen(value)) ? errno : 0;
}

/* In a process of its own, which ends with ours. */
static bool set_sysctl(const char *pin, const char *name, const char *value, GError **error) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
                begin_inside();
                _exit(set_inside(pin, name, value));
        }
        if (pid < 0 || process_wait(pid, &status, 0) < 0)
                return error_set_errno(error, errno, "Cannot set the kernel parameter '%s'", name);
        if (!WIFEXITED(status))
                return error_set(error, KT_ERROR_FAILED, "Cannot set the kernel parameter '%s': killed", name);
        return WEXITSTATUS(status) == 0 ||
               error_set_errno(error, WEXITSTATUS(status), "Cannot set the kernel parameter '%s'", name);
}

bool namespace_set_sysctls(const char *pin, const char *lines, GError **error) {
        g_auto(GStrv) all = g_strsplit(lines, "\n", -1);

        for (char **line = all; *line; line++) {
                char *equals = strchr(*line, '=');

                if (!equals)
                        continue;
                *equals = '\0';
                if (!set_sysctl(pin, *line, equals + 1, error))
                        return false;
        }
        return true;
}
