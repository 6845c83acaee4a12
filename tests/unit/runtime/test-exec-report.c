/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/runtime/exec-report.h"
#include "tests/unit/test-main.h"

/* Run `path` in a child that reports, as the container's first process does; what does the parent learn? */
static int report_of(const char *path, int at) {
        g_auto(ExecReport) report = EXEC_REPORT_NULL;
        int errnum = -1;
        pid_t pid;

        ck_assert(exec_report_open(&report, at, NULL));
        ck_assert_int_eq(report.write_fd, at);
        ck_assert_int_eq(fcntl(at, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        ck_assert_int_eq(fcntl(report.read_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        pid = fork();
        if (pid == 0) {
                char *argv[] = { (char *) path, NULL };

                execv(path, argv);
                exec_report_failure(&report, errno);
                _exit(EXIT_FAILURE);
        }
        ck_assert(exec_report_wait(&report, &errnum, NULL));
        waitpid(pid, NULL, 0);
        return errnum;
}

START_TEST(test_report) {
        int lowest = dup(STDIN_FILENO); /* where the pipe itself will be, too; Check has some below */

        close(lowest);
        for (int at = lowest; at < lowest + 4; at++) {
                ck_assert_int_eq(report_of("/bin/true", at), 0);
                ck_assert_int_eq(report_of("/nonexistent", at), ENOENT);
                ck_assert_int_eq(report_of("/etc", at), EACCES);
        }
}
END_TEST

TEST_MAIN("exec-report", { tcase_add_test(tcase, test_report); })
