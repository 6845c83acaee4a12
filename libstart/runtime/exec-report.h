/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* How libstart learns that the payload's execve(2) has succeeded: both ends are close-on-exec, so success closes the
 * pipe with nothing in it, and failure leaves the errno. The writer must sit on one fixed descriptor, because libcrun
 * closes all others just before the exec. */
typedef struct ExecReport {
        int read_fd;
        int write_fd;
} ExecReport;

#define EXEC_REPORT_NULL { -1, -1 }

/* write_fd becomes exactly `at`; whatever was open there is closed. */
bool exec_report_open(ExecReport *report, int at, GError **error);
void exec_report_close(ExecReport *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ExecReport, exec_report_close)

/* In the container, between a failed execve and _exit: async-signal-safe. */
void exec_report_failure(const ExecReport *report, int errnum);

/* Just before the execve, as async-signal-safe: has nobody closed the reading end, as by the end of who waits? It is
 * open for as long as any process has a copy, this one included. */
bool exec_report_is_heard(const ExecReport *report);

/* Close our copy of the writing end and wait. *ret_errno is 0 when the payload runs (or died before it told
 * otherwise), else the errno of its execve. */
bool exec_report_wait(ExecReport *report, int *ret_errno, GError **error);
