/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <libcrun/container.h>
#include <stdbool.h>
#include <sys/types.h>

/* A command beside the payload: in its namespaces and cgroup, with its user, capabilities and filter, which libcrun
 * reads from what libstart left in the state. Never with more than the payload has, and with nothing of the caller's.
 *
 * The threat: the payload watches for whoever comes in, and is root or the same user there. A process of ours, forked
 * from the one that the caller waits for, runs libcrun; what it holds can become the payload's:
 *  - descriptors: the command gets pipes, or a terminal of the container's, and the process has nothing else open;
 *  - the host's program (CVE-2019-5736): own-program.h, which main() calls first, and libcrun where that cannot be;
 *  - its memory and its capabilities, before it executes the command (CVE-2016-9962): libcrun makes it not dumpable,
 *    so that only a payload that was given CAP_SYS_PTRACE can trace it. Beside such a one it gives up its rights, and
 *    closes what it has open, before it is in the container's PID namespace (a patch of ours);
 *  - the files that it reads in the container, which are the payload's: for a message in the caller's language, libc
 *    might load a catalogue there, and for his character set, code. So what libcrun says is English;
 *  - keys, and the protection from the out-of-memory killer, that the caller's session has;
 *  - limits, processors and priority of the caller's: payload-limits.h. */

typedef runtime_spec_schema_config_schema_process EnterProcess;

typedef struct Entry {
        const char *root, *id; /* libcrun's state: ROOT/ID */
        pid_t payload;
        const char *cgroup;  /* to be entered, as in /proc/PID/cgroup */
        const char *runtime; /* the program that runs it, or NULL: crun's library */
        bool is_filtered;    /* set by enter_check_filter(): nothing is run without the filter */
} Entry;

/* The program, once more where main() could not: where a filter forbids mounts (SystemCallFilter=), libcrun copies it
 * and executes the copy, and this does not return. */
bool enter_protect(GError **error);

/* Where the filter's file is missing libcrun would run the command without one, also if the payload has one. Not for
 * an unconfined container: its filters are systemd's, and the caller has them, too. */
bool enter_check_filter(Entry *entry, GError **error);

/* The forked process's last steps before enter_run(): whose keys it has, whom the out-of-memory killer takes it for,
 * and whose limits count. Its descriptors are the caller's affair. */
bool enter_prepare(const Entry *entry, const EnterProcess *process, GError **error);

/* Runs the command and waits for it. Returns its exit status; or with an error one of exit-codes.h; also where what
 * libcrun forked has failed, which has said why on standard error then. */
int enter_run(const Entry *entry, EnterProcess *process, const char *console_socket, GError **error);

/* The command gets no new privileges where the payload gets none: NoNewPrivileges= in [Service] is not in what
 * libstart left. For who runs it in another way. */
void enter_keep_restrictions(const Entry *entry, EnterProcess *process);

/* What libcrun reports: of *err, which is released. Returns the exit status for it. */
int enter_fail(libcrun_error_t *err, GError **error);
