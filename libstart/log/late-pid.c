/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/log/late-pid.h"

/* A child that exits at once, with the id `wanted` unless that is 0. Returns its id or a negative errno.
 * No signal is sent to us when it exits; waitpid() needs __WALL for such children. */
static pid_t fork_zombie(pid_t wanted) {
        struct clone_args args = {
                .set_tid = wanted > 0 ? (uintptr_t) &wanted : 0,
                .set_tid_size = wanted > 0 ? 1 : 0,
        };
        long pid = syscall(SYS_clone3, &args, sizeof args);

        if (pid == 0)
                _exit(0);
        return pid < 0 ? -errno : (pid_t) pid;
}

/* Since 6.17 Linux takes the id of a reaped process for a sender only if somebody has held a pidfd of it. */
static void touch_pidfd(pid_t pid) {
        int fd = (int) syscall(SYS_pidfd_open, pid, 0);

        if (fd >= 0)
                close(fd);
}

static void reap(pid_t pid) {
        while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
                ;
}

int late_pid_open(LatePid *late, pid_t wanted) {
        pid_t leader = fork_zombie(wanted), holder;

        /* In use again already, or not allowed to us: any other id will do. */
        if (leader < 0)
                leader = fork_zombie(0);
        if (leader < 0)
                return leader;
        holder = fork_zombie(0);
        if (holder < 0 || setpgid(leader, leader) < 0 || setpgid(holder, leader) < 0) {
                int r = holder < 0 ? holder : -errno;

                reap(leader);
                if (holder > 0)
                        reap(holder);
                return r;
        }
        touch_pidfd(leader);
        reap(leader);
        *late = (LatePid){ .pid = leader, .holder = holder };
        return 0;
}

void late_pid_close(LatePid *late) {
        if (late->pid > 0)
                reap(late->holder);
        *late = (LatePid){ 0 };
}
