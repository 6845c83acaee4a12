/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The number of filters that this process, and all it executes, has for ever: those of seccomp(2), and one for
 * PR_SET_MDWE. Where the kernel has PR_SET_MDWE, systemd uses it for MemoryDenyWriteExecute=. */
bool process_filters_count(guint *ret, GError **error);

/* Of a process that has ended, as a shell says it; `status` is waitpid(2)'s. */
int process_exit_status(int status);

/* As waitpid(2), whatever signals come meanwhile. */
pid_t process_wait(pid_t pid, int *ret_status, int options);

/* Field `number` of /proc/PID/stat (proc(5)), from 3, the state, on. Transfer full; NULL with errno,
 * which is ENOENT or ESRCH where there is no such process. */
char *process_read_stat(pid_t pid, guint number);

/* Kills all children of this process, and waits for them. Where it is a subreaper, those are among them who have lost
 * their parent by that. */
void process_kill_descendants(void);

/* Where a process is in the unified hierarchy, "/system.slice/NAME.service"; 0: this one. NULL where there is no such
 * hierarchy, or no such process any more. Transfer full. */
char *process_find_cgroup(pid_t pid);
