/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

/* The process id under which the last words of a payload that is gone are sent.
 *
 * journald learns a line's unit from the cgroup of the sending process. If that process is gone, it takes the unit in
 * the stream's header, which is right for a payload that has exited. But the kernel does not let anybody send in the
 * name of a process id that does not exist (sendmsg(2), ESRCH), and in the relay's own name the lines would be the
 * relay's.
 *
 * So an id is made that exists and cannot be looked up. An id is in use as long as any process has it as its process
 * group, even when the process that once had it as its own id is gone. Two children are forked that exit at once; the
 * first one leads a process group, the second one is made a member of it. The first one is waited for, and its id is
 * then a group's only; the second stays a zombie until late_pid_close(). Of what is sent from then on journald looks
 * up nobody, whenever it looks.
 *
 * Where possible the first child is given the very id that the payload had (clone3(2), set_tid), so that the
 * journal's _PID= and what else journald may still remember of the payload are right. */
typedef struct LatePid {
        pid_t pid;    /* 0 while closed */
        pid_t holder; /* the zombie */
} LatePid;

/* Returns 0 or a negative errno. */
int late_pid_open(LatePid *late, pid_t wanted);
void late_pid_close(LatePid *late);
