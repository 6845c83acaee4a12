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
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/network/namespace.h"

/* What a child that enters a namespace does there. Returns an errno value. */
typedef int (*Inside)(const void *data);

/* It ends with its parent. In a user namespace below, root of this one may do everything to it, with whatever
 * capabilities: a container that sees it (--pid=host) would get at the host's files by its root directory. */
static void begin_inside(void) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!user_view_is_entered()) /* where its parent could not look at it, and containers see nobody */
                prctl(PR_SET_DUMPABLE, 0);
}

/* Runs it in a process of its own, which ends with ours, and waits. */
static bool run_apart(Inside inside, const void *data, const char *what, GError **error) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
                begin_inside();
                _exit(inside(data));
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return error_set_errno(error, errno, "%s", what);
        if (!WIFEXITED(status))
                return error_set(error, KT_ERROR_FAILED, "%s: killed", what);
        return WEXITSTATUS(status) == 0 || error_set_errno(error, WEXITSTATUS(status), "%s", what);
}

/* The pin's mount namespace is the machine's also where its user namespace is another: the child makes the namespace
 * and waits while its parent mounts it. */
typedef struct Maker {
        const char *userns;
        int made[2], mounted[2]; /* pipes */
} Maker;

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

G_NORETURN static void make_inside(const Maker *maker) {
        int problem;
        char byte;

        begin_inside();
        problem = enter_userns(maker->userns);
        if (problem == 0 && unshare(CLONE_NEWNET) < 0)
                problem = errno;
        /* Where the parent cannot be told, it waits for our end. The read ends when the parent closes its end, or
         * with it. */
        if (write(maker->made[1], &problem, sizeof problem) == sizeof problem)
                (void) !read(maker->mounted[0], &byte, 1);
        _exit(0);
}

static bool mount_made(const Maker *maker, pid_t pid, const char *pin, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/net", (int) pid);
        int problem = 0;

        if (read(maker->made[0], &problem, sizeof problem) != sizeof problem)
                return error_set(error, KT_ERROR_FAILED, "Cannot make a network namespace: its maker has ended");
        if (problem != 0)
                return error_set_errno(error, problem, "Cannot make a network namespace%s%s",
                                       maker->userns ? " in " : "", maker->userns ?: "");
        return mount(path, pin, NULL, MS_BIND, NULL) == 0 || error_set_errno(error, errno, "Cannot mount '%s'", pin);
}

bool namespace_pin(const char *pin, const char *userns, GError **error) {
        _cleanup_close_ int file = open(pin, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
        g_autofree char *owner = find_userns(userns);
        Maker maker = { owner, { -1, -1 }, { -1, -1 } };
        bool ok = false;
        pid_t pid = -1;

        if (file < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", pin);
        if (pipe2(maker.made, O_CLOEXEC) == 0 && pipe2(maker.mounted, O_CLOEXEC) == 0)
                pid = fork();
        if (pid == 0) {
                fd_close(&maker.made[0]);
                fd_close(&maker.mounted[1]);
                make_inside(&maker);
        }
        fd_close(&maker.made[1]);
        fd_close(&maker.mounted[0]);
        if (pid > 0)
                ok = mount_made(&maker, pid, pin, error);
        else
                error_set_errno(error, errno, "Cannot make a process");
        fd_close(&maker.made[0]);
        fd_close(&maker.mounted[1]);
        if (pid > 0)
                waitpid(pid, NULL, 0);
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

typedef struct SysctlJob {
        const char *pin, *name, *value;
} SysctlJob;

/* Ids in values are those of the container. Where the namespace belongs to the machine, we are there already: EINVAL.
 */
static int enter_owner(int ns) {
        _cleanup_close_ int owner = ioctl(ns, NS_GET_USERNS);

        return owner < 0 || (setns(owner, CLONE_NEWUSER) < 0 && errno != EINVAL) ? errno : 0;
}

/* A name's dots are slashes in the path; it has no slashes itself (sysctl_parse()). */
static int set_inside(const void *data) {
        const SysctlJob *job = data;
        _cleanup_close_ int ns = open(job->pin, O_RDONLY | O_CLOEXEC), fd = -1;
        g_autofree char *path = g_strconcat("/proc/sys/", job->name, NULL);
        int problem = ns < 0 ? errno : enter_owner(ns);

        g_strdelimit(path, ".", '/');
        if (problem != 0)
                return problem;
        if (setns(ns, CLONE_NEWNET) < 0)
                return errno;
        fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 || !fd_write_all(fd, job->value, strlen(job->value)) ? errno : 0;
}

bool namespace_set_sysctls(const char *pin, const char *lines, GError **error) {
        g_auto(GStrv) all = g_strsplit(lines, "\n", -1);

        for (char **line = all; *line; line++) {
                char *equals = strchr(*line, '=');
                g_autofree char *what = NULL;
                SysctlJob job = { pin, *line, equals ? equals + 1 : NULL };

                if (!equals)
                        continue;
                *equals = '\0';
                what = g_strdup_printf("Cannot set the kernel parameter '%s'", job.name);
                if (!run_apart(set_inside, &job, what, error))
                        return false;
        }
        return true;
}
