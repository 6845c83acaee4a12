/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/process.h"
#include "tests/unit/test-main.h"

static volatile sig_atomic_t n_signals;
static int ends[2];

/* The child ends when it has been so often. */
static void count(int number) {
        if (++n_signals == 20)
                (void) !write(ends[1], "", 1);
}

START_TEST(test_wait_is_not_interrupted) {
        const struct sigaction action = { .sa_handler = count }; /* without SA_RESTART */
        const struct itimerval often = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };
        int status = -1;
        pid_t child;
        char byte;

        ck_assert_int_eq(pipe(ends), 0);
        child = fork();
        if (child == 0)
                _exit(read(ends[0], &byte, 1) == 1 ? 3 : 1);
        ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
        ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
        ck_assert_int_eq(process_wait(child, &status, 0), child);
        ck_assert_int_ge(n_signals, 20);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        ck_assert_int_lt(process_wait(child, &status, WNOHANG), 0);
        ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(test_stat) {
        g_autofree char *state = NULL, *parent = NULL, *none = NULL;
        char ppid[32];
        pid_t child = fork();

        if (child == 0) {
                (void) prctl(PR_SET_NAME, ") Z 1 (");
                pause();
        }
        g_snprintf(ppid, sizeof ppid, "%d", (int) getpid());
        parent = process_read_stat(child, 4);
        ck_assert_str_eq(parent, ppid);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitid(P_PID, (id_t) child, &(siginfo_t) { 0 }, WEXITED | WNOWAIT), 0);
        state = process_read_stat(child, 3);
        ck_assert_str_eq(state, "Z");
        ck_assert_int_eq(process_wait(child, NULL, 0), child);
        none = process_read_stat(child, 3);
        ck_assert_ptr_null(none);
}
END_TEST

/* A process that leaves its session, one that it has made, and one of that. */
START_TEST(test_descendants) {
        char byte;

        ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        ck_assert_int_eq(pipe(ends), 0);
        if (fork() == 0) {
                (void) setsid();
                if (fork() == 0 && fork() == 0)
                        (void) setsid();
                (void) !write(ends[1], "", 1);
                pause();
        }
        close(ends[1]);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(read(ends[0], &byte, 1), 1);
        process_kill_descendants();
        ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* who had the other end is gone */
        ck_assert_int_lt(process_wait(-1, NULL, 0), 0);
        ck_assert_int_eq(errno, ECHILD);
}
END_TEST

TEST_MAIN("base/process", {
        tcase_add_test(tcase, test_wait_is_not_interrupted);
        tcase_add_test(tcase, test_stat);
        tcase_add_test(tcase, test_descendants);
})
