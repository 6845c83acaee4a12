/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Limit*=, CPUAffinity= and Nice= of the service, wherever they stand, and what the payload has made of its own: a
 * command beside it is to have no more, but for one thing (payload_limits_copy()). */

/* All limits, by their numbers, of the text of /proc/PID/limits (proc_pid_limits(5)). False where it is none. Pure.
 */
bool payload_limits_parse(const char *text, struct rlimit limits[static RLIM_NLIMITS]);

/* Gives this process the payload's limits, processors and priority. Where it may not have as much, it has what it
 * may. *ret_forks: false where the payload may make no process any more. As no command could be executed so, this
 * process's limit of processes is left as it is. */
bool payload_limits_copy(pid_t payload, bool *ret_forks, GError **error);
