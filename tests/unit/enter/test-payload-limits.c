/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "libstart/enter/payload-limits.h"
#include "tests/unit/test-main.h"

/* Whatever the kernel of this machine says, in the order of its numbers. */
START_TEST(of_this_process) {
        struct rlimit limits[RLIM_NLIMITS], own;
        g_autofree char *text = NULL;

        ck_assert(g_file_get_contents("/proc/self/limits", &text, NULL, NULL));
        ck_assert(payload_limits_parse(text, limits));
        for (int i = 0; i < RLIM_NLIMITS; i++) {
                ck_assert_int_eq(getrlimit((__rlimit_resource_t) i, &own), 0);
                ck_assert_uint_eq(limits[i].rlim_cur, own.rlim_cur);
                ck_assert_uint_eq(limits[i].rlim_max, own.rlim_max);
        }
}
END_TEST

/* Cut anywhere, it is either as good as whole or refused. */
START_TEST(broken) {
        struct rlimit limits[RLIM_NLIMITS];
        g_autofree char *text = NULL;
        const char *last;

        ck_assert(g_file_get_contents("/proc/self/limits", &text, NULL, NULL));
        last = strstr(text, "Max realtime timeout");
        for (size_t length = 0; last && length < (size_t) (last - text) + 48; length++) {
                g_autofree char *cut = g_strndup(text, length);

                ck_assert_msg(!payload_limits_parse(cut, limits), "%zu bytes", length);
        }
        memset(strstr(text, "Max open files") + 26, 'x', 1);
        ck_assert(!payload_limits_parse(text, limits));
}
END_TEST

static struct rlimit limit_of(int resource) {
        struct rlimit limit;

        ck_assert_int_eq(getrlimit((__rlimit_resource_t) resource, &limit), 0);
        return limit;
}

/* A process of the tests' own that has such limits and sleeps. */
static pid_t start_limited(int resource, struct rlimit limit) {
        int go[2];
        pid_t child;
        char byte;

        ck_assert_int_eq(pipe(go), 0);
        child = fork();
        if (child == 0) {
                if (setrlimit((__rlimit_resource_t) resource, &limit) < 0 || setpriority(PRIO_PROCESS, 0, 9) < 0 ||
                    write(go[1], "", 1) != 1)
                        _exit(1);
                for (;;)
                        pause();
        }
        close(go[1]);
        ck_assert_int_eq(read(go[0], &byte, 1), 1);
        close(go[0]);
        return child;
}

/* This one gets no more than a process that has less. */
START_TEST(copied) {
        pid_t child = start_limited(RLIMIT_NOFILE, (struct rlimit) { 11, 22 });
        bool forks = false;

        ck_assert(payload_limits_copy(child, &forks, NULL));
        ck_assert(forks);
        ck_assert_uint_eq(limit_of(RLIMIT_NOFILE).rlim_cur, 11);
        ck_assert_uint_eq(limit_of(RLIMIT_NOFILE).rlim_max, 22);
        ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), 9);
        kill(child, SIGKILL);
        ck_assert(!payload_limits_copy(0x7fffffff, &forks, NULL));
}
END_TEST

/* Whose limit would let no command be executed: it is not taken over, and all others are. */
START_TEST(vow) {
        struct rlimit before = limit_of(RLIMIT_NPROC);
        pid_t child = start_limited(RLIMIT_NPROC, (struct rlimit) { 0, 100 });
        bool forks = true;

        ck_assert(payload_limits_copy(child, &forks, NULL));
        ck_assert(!forks);
        ck_assert_uint_eq(limit_of(RLIMIT_NPROC).rlim_cur, before.rlim_cur);
        ck_assert_uint_eq(limit_of(RLIMIT_NPROC).rlim_max, before.rlim_max);
        ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), 9);
        kill(child, SIGKILL);
}
END_TEST

TEST_MAIN("payload-limits", tcase_add_test(tcase, of_this_process); tcase_add_test(tcase, broken);
          tcase_add_test(tcase, copied); tcase_add_test(tcase, vow))
