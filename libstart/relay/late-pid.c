/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/relay/late-pid.h"

static pid_t clone_zombie(pid_t wanted, int cgroup) {
        struct clone_args args = {
                .flags = CLONE_FILES | (cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
                .cgroup = cgroup >= 0 ? (uint64_t) cgroup : 0,
                .set_tid = wanted > 0 ? (uintptr_t) &wanted : 0,
                .set_tid_size = wanted > 0 ? 1 : 0,
        };
        long pid = syscall(SYS_clone3, &args, sizeof args);

        if (pid == 0)
                _exit(0);
        return pid < 0 ? -errno : (pid_t) pid;
}

/* A child that exits at once (and closes nothing, which may last: it shares our descriptors), with the id `wanted`
 * unless that is 0. Returns its id or a negative errno. No signal is sent to us when it exits; waitpid() needs __WALL
 * for such children.
 *
 * journald may read a line that the payload itself sent, or that was sent in its name while it was there, only when
 * the id is this child's for a moment, and look in its cgroup for the unit. In the root cgroup it finds none, and
 * takes that of the stream; in ours it would find the relay's. Not everywhere may a process be in there: then it is a
 * race that is rarely lost. */
static pid_t fork_zombie(pid_t wanted) {
        _cleanup_close_ int cgroup = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        pid_t pid = cgroup >= 0 ? clone_zombie(wanted, cgroup) : -ENOENT;

        return pid > 0 || pid == -EEXIST ? pid : clone_zombie(wanted, -1);
}

/* Since 6.17 Linux takes the id of a reaped process for a sender only if somebody has held a pidfd of it. */
static bool touch_pidfd(pid_t pid) {
        int fd = (int) syscall(SYS_pidfd_open, pid, 0);

        return fd >= 0 && close(fd) == 0;
}

static void reap(pid_t pid) {
        (void) process_wait(pid, NULL, __WALL);
}

int late_pid_open(LatePid *late, pid_t wanted) {
        pid_t leader = fork_zombie(wanted), holder;

        /* In use again already, or not allowed to us: any other id will do. */
        if (leader < 0)
                leader = fork_zombie(0);
        if (leader < 0)
                return leader;
        holder = fork_zombie(0);
        if (holder < 0 || setpgid(leader, leader) < 0 || setpgid(holder, leader) < 0 || !touch_pidfd(leader)) {
                int r = holder < 0 ? holder : -errno;

                reap(leader);
                if (holder > 0)
                        reap(holder);
                return r;
        }
        reap(leader);
        *late = (LatePid) { .pid = leader, .holder = holder };
        return 0;
}

void late_pid_close(LatePid *late) {
        if (late->pid > 0)
                reap(late->holder);
        *late = (LatePid) { 0 };
}
