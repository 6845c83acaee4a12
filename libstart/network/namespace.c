/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/network/namespace.h"

/* What a child that enters a namespace does there. Returns an errno value. */
typedef int (*Inside)(const void *data);

/* Runs it in a process of its own, which ends with ours, and waits. */
static bool run_apart(Inside inside, const void *data, const char *what, GError **error) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(inside(data));
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return error_set_errno(error, errno, "%s", what);
        if (!WIFEXITED(status))
                return error_set(error, KT_ERROR_FAILED, "%s: killed", what);
        return WEXITSTATUS(status) == 0 || error_set_errno(error, WEXITSTATUS(status), "%s", what);
}

/* The pin's mount namespace is the machine's also where its user namespace is another: the child makes the namespace and
 * waits while its parent mounts it. */
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

G_NORETURN static void make_inside(const Maker *maker) {
        int problem;
        char byte;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        problem = enter_userns(maker->userns);
        if (problem == 0 && unshare(CLONE_NEWNET) < 0)
                problem = errno;
        (void) !write(maker->made[1], &problem, sizeof problem);
        (void) !read(maker->mounted[0], &byte, 1); /* ends when the parent closes its end, or with it */
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
        Maker maker = { userns, { -1, -1 }, { -1, -1 } };
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

/* A name's dots are slashes in the path; it has no slashes itself (sysctl_parse()). */
static int set_inside(const void *data) {
        const SysctlJob *job = data;
        _cleanup_close_ int ns = open(job->pin, O_RDONLY | O_CLOEXEC), fd = -1;
        g_autofree char *path = g_strconcat("/proc/sys/", job->name, NULL);

        g_strdelimit(path, ".", '/');
        if (ns < 0 || setns(ns, CLONE_NEWNET) < 0)
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
