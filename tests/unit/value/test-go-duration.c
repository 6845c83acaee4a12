/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/go-duration.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "0", "0" },
        { "+0", "0" },
        { "0s", "0" },
        { "30s", "30000000" },
        { "+30s", "30000000" },
        { "1m30s", "90000000" },
        { "1.5h", "5400000000" },
        { ".5s", "500000" },
        { "5.s", "5000000" },
        { "500ms", "500000" },
        { "3us", "3" },
        { "3\302\265s", "3" },
        { "3\316\274s", "3" },
        { "1ns", "1" }, /* rounded up: 0 would be something else */
        { "1000ns", "1" },
        { "1s1s", "2000000" },
        { "2540400h", "9145440000000000" }, /* 290 years */
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "no span of time" },
        { "+", KT_ERROR_USAGE, "no span of time" },
        { "5", KT_ERROR_USAGE, "'5'" },
        { "-5s", KT_ERROR_USAGE, "'-5s'" },
        { "s", KT_ERROR_USAGE, "'s'" },
        { ".s", KT_ERROR_USAGE, "'.s'" },
        { "1.2.3s", KT_ERROR_USAGE, "1.2.3s" },
        { "5 s", KT_ERROR_USAGE, "'5 s'" },
        { "5sec", KT_ERROR_USAGE, "'5sec'" },
        { "1d", KT_ERROR_USAGE, "'1d'" },
        { "1m30", KT_ERROR_USAGE, "'1m30'" },
        { "0x1s", KT_ERROR_USAGE, "'0x1s'" },
        { "1e3s", KT_ERROR_USAGE, "'1e3s'" },
        { "infs", KT_ERROR_USAGE, "'infs'" },
        { "3000000h", KT_ERROR_USAGE, "'3000000h'" }, /* more than Go can hold */
};

static char *parse(const char *value, GError **error) {
        guint64 usec = 77;

        if (go_duration_parse(value, &usec, error))
                return g_strdup_printf("%" G_GUINT64_FORMAT, usec);
        ck_assert_uint_eq(usec, 77);
        return NULL;
}

PARSE_TESTS(parse)

TEST_MAIN("go-duration", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
