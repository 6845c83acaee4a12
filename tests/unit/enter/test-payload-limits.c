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

/* The tests' own processes: one that has less, and this one, which gets no more than that. */
START_TEST(copied) {
        struct rlimit less = { 11, 22 };
        pid_t child;
        int go[2];
        char byte;

        ck_assert_int_eq(pipe(go), 0);
        child = fork();
        if (child == 0) {
                if (setrlimit(RLIMIT_NOFILE, &less) < 0 || setpriority(PRIO_PROCESS, 0, 9) < 0 ||
                    write(go[1], "", 1) != 1)
                        _exit(1);
                for (;;)
                        pause();
        }
        ck_assert_int_eq(read(go[0], &byte, 1), 1);
        ck_assert(payload_limits_copy(child, NULL));
        ck_assert_uint_eq(limit_of(RLIMIT_NOFILE).rlim_cur, 11);
        ck_assert_uint_eq(limit_of(RLIMIT_NOFILE).rlim_max, 22);
        ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), 9);
        kill(child, SIGKILL);
        ck_assert(!payload_limits_copy(0x7fffffff, NULL));
}
END_TEST

TEST_MAIN("payload-limits", tcase_add_test(tcase, of_this_process); tcase_add_test(tcase, broken);
          tcase_add_test(tcase, copied))
