/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/process.h"
#include "libstart/runtime/hand-over.h"
#include "tests/unit/base/expect-error.h"

static pid_t start(const RuntimeContainer *container, int *ret_exec_errno, GError **error) {
        pid_t payload = fork();

        if (payload == 0) {
                pause();
                _exit(0);
        }
        *ret_exec_errno = 0;
        return payload;
}

static bool started(pid_t payload, void *data, GError **error) {
        return error_set(error, KT_ERROR_FAILED, "started, and nobody knows how its parent has ended");
}

/* As where the caller ignores SIGCHLD: the kernel tells nobody how the midwife has ended. */
START_TEST(test_unknown_end) {
        g_auto(ExecReport) report = EXEC_REPORT_NULL;
        const RuntimeContainer container = { .report = &report };
        const HandOverCalls calls = { .start = start, .started = started };
        g_autoptr(GError) error = NULL;
        struct pollfd life = { .events = POLLIN };
        HandOver result;
        int lowest = dup(STDIN_FILENO), fds[2]; /* Check has some below */

        close(lowest);
        ck_assert(exec_report_open(&report, lowest, NULL));
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        (void) signal(SIGCHLD, SIG_IGN);
        ck_assert(!hand_over(&container, NULL, "", &calls, &result, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot wait for the process that starts the container");
        /* The payload has ended, too. */
        close(fds[1]);
        life.fd = fds[0];
        ck_assert_int_eq(poll(&life, 1, 30000), 1);
}
END_TEST

static bool is_stopped(pid_t pid) {
        g_autofree char *state = process_read_stat(pid, 3);

        return g_strcmp0(state, "T") == 0;
}

static pid_t start_late(const RuntimeContainer *container, int *ret_exec_errno, GError **error) {
        pid_t midwife = getpid(), somebody = fork();

        if (somebody == 0) {
                while (!is_stopped(midwife))
                        usleep(1000);
                usleep(100000); /* so that libstart has seen it */
                kill(midwife, SIGCONT);
                _exit(0);
        }
        kill(midwife, SIGSTOP);
        (void) waitpid(somebody, NULL, 0);
        return start(container, ret_exec_errno, error);
}

/* Somebody has the midwife stand still for a moment before the payload is there: its own stop is still to come. */
START_TEST(test_stopped_by_somebody) {
        g_auto(ExecReport) report = EXEC_REPORT_NULL;
        const RuntimeContainer container = { .report = &report };
        const HandOverCalls calls = { .start = start_late, .started = started };
        g_autoptr(GError) error = NULL;
        HandOver result;
        int lowest = dup(STDIN_FILENO);

        close(lowest);
        ck_assert(exec_report_open(&report, lowest, NULL));
        ck_assert(!hand_over(&container, NULL, "", &calls, &result, &error));
        expect_error(error, KT_ERROR_FAILED, "started, and");
        ck_assert_int_gt(result.payload, 0);
}
END_TEST

TEST_MAIN("runtime/hand-over", {
        tcase_add_test(tcase, test_unknown_end);
        tcase_add_test(tcase, test_stopped_by_somebody);
})
