/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>

#include "libstart/option/signal-name.h"
#include "tests/unit/base/expect-error.h"

START_TEST(test_good) {
        const struct {
                const char *value;
                int number;
        } good[] = {
                { "SIGTERM", SIGTERM },
                { "term", SIGTERM },
                { "Kill", SIGKILL },
                { "15", 15 },
                { "1", 1 },
                { "64", 64 },
                { "HUP", SIGHUP },
                { "SIGSYS", SIGSYS },
                { "RTMIN", SIGRTMIN },
                { "RTMIN+3", SIGRTMIN + 3 },
                { "SIGRTMIN+30", SIGRTMAX },
                { "rtmax-1", SIGRTMAX - 1 },
                { "SIGRTMAX", SIGRTMAX },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
                int number = 0;

                ck_assert_msg(signal_name_parse(good[i].value, &number, NULL), "%s", good[i].value);
                ck_assert_int_eq(number, good[i].number);
        }
}
END_TEST

START_TEST(test_print) {
        g_autofree char *term = signal_name_print(15), *real_time = signal_name_print(SIGRTMIN + 3);
        g_autofree char *reserved = signal_name_print(32);

        ck_assert_str_eq(term, "SIGTERM");
        ck_assert_str_eq(reserved, "32");
        ck_assert_str_eq(real_time, "SIGRTMIN+3");
}
END_TEST

static const char *const bad[] = { "",         "0",       "65",      "-1",     "SIG",      "SIGSIGTERM", "TERMINATE",
                                   "RTMIN+31", "RTMIN-1", "RTMAX+1", "RTMIN+", "RTMAX-31", "RTMIN3",     "15 " };

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        int number = 0;

        ck_assert_msg(!signal_name_parse(bad[_i], &number, &error), "%s", bad[_i]);
        expect_error(error, KT_ERROR_USAGE, bad[_i]);
}
END_TEST

TEST_MAIN("signal-name", {
        tcase_add_test(tcase, test_good);
        tcase_add_test(tcase, test_print);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
