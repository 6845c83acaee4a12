/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/process.h"
#include "tests/unit/test-main.h"

static volatile sig_atomic_t n_signals;

static void count(int number) {
        n_signals++;
}

START_TEST(test_wait_is_not_interrupted) {
        const struct sigaction action = { .sa_handler = count }; /* without SA_RESTART */
        const struct itimerval often = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };
        pid_t child = fork();
        int status = -1;

        if (child == 0) {
                g_usleep(50000);
                _exit(3);
        }
        ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
        ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
        ck_assert_int_eq(process_wait(child, &status, 0), child);
        ck_assert_int_gt(n_signals, 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        ck_assert_int_lt(process_wait(child, &status, WNOHANG), 0);
        ck_assert_int_eq(errno, ECHILD);
}
END_TEST

TEST_MAIN("base/process", { tcase_add_test(tcase, test_wait_is_not_interrupted); })
