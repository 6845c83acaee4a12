/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* How many filters are upon this process that it will never get rid of, nor what it executes: those of seccomp(2),
 * and the one of PR_SET_MDWE, which systemd uses for MemoryDenyWriteExecute= instead where there is it. */
bool process_filters_count(guint *ret, GError **error);

/* As waitpid(2), whatever signals come meanwhile. */
pid_t process_wait(pid_t pid, int *ret_status, int options);

/* Where a process is in the unified hierarchy, "/system.slice/NAME.service"; 0: this one. NULL where there is no such
 * hierarchy, or no such process any more. Transfer full. */
char *process_find_cgroup(pid_t pid);
