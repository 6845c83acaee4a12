/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>

#include "libstart/value/signal-name.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "SIGTERM", "15" },     { "term", "15" },    { "Kill", "9" },      { "15", "15" },    { "1", "1" },
        { "64", "64" },          { "HUP", "1" },      { "SIGSYS", "31" },   { "RTMIN", "34" }, { "RTMIN+3", "37" },
        { "SIGRTMIN+30", "64" }, { "rtmax-1", "63" }, { "SIGRTMAX", "64" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "" },
        { "0", KT_ERROR_USAGE, "0" },
        { "65", KT_ERROR_USAGE, "65" },
        { "-1", KT_ERROR_USAGE, "-1" },
        { "SIG", KT_ERROR_USAGE, "SIG" },
        { "SIGSIGTERM", KT_ERROR_USAGE, "SIGSIGTERM" },
        { "TERMINATE", KT_ERROR_USAGE, "TERMINATE" },
        { "RTMIN+31", KT_ERROR_USAGE, "RTMIN+31" },
        { "RTMIN-1", KT_ERROR_USAGE, "RTMIN-1" },
        { "RTMAX+1", KT_ERROR_USAGE, "RTMAX+1" },
        { "RTMIN+", KT_ERROR_USAGE, "RTMIN+" },
        { "RTMAX-31", KT_ERROR_USAGE, "RTMAX-31" },
        { "RTMIN3", KT_ERROR_USAGE, "RTMIN3" },
        { "15 ", KT_ERROR_USAGE, "15 " },
};

static char *parse(const char *value, GError **error) {
        int number = 0;

        return signal_name_parse(value, &number, error) ? g_strdup_printf("%d", number) : NULL;
}

PARSE_TESTS(parse)

START_TEST(test_print) {
        g_autofree char *term = signal_name_print(15), *real_time = signal_name_print(SIGRTMIN + 3);
        g_autofree char *reserved = signal_name_print(32);

        ck_assert_str_eq(term, "SIGTERM");
        ck_assert_str_eq(reserved, "32");
        ck_assert_str_eq(real_time, "SIGRTMIN+3");
}
END_TEST

TEST_MAIN("signal-name", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_test(tcase, test_print);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
