/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/ulimit.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value, *type;
        guint64 soft, hard;
} good[] = {
        { "nofile=100", "RLIMIT_NOFILE", 100, 100 },
        { "nofile=100:200", "RLIMIT_NOFILE", 100, 200 },
        { "core=-1", "RLIMIT_CORE", ULIMIT_UNLIMITED, ULIMIT_UNLIMITED },
        { "core=0:-1", "RLIMIT_CORE", 0, ULIMIT_UNLIMITED },
        { "memlock=unlimited", "RLIMIT_MEMLOCK", ULIMIT_UNLIMITED, ULIMIT_UNLIMITED },
        { "stack=9223372036854775807", "RLIMIT_STACK", G_MAXINT64, G_MAXINT64 },
        { "RLIMIT_CORE=5:-1", "RLIMIT_CORE", 5, ULIMIT_UNLIMITED },
        { "rtprio=99", "RLIMIT_RTPRIO", 99, 99 },
        { "host", NULL, 0, 0 },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        Ulimit ulimit = { .type = "untouched" };

        ck_assert_msg(ulimit_parse(good[_i].value, &ulimit, &error), "%s", good[_i].value);
        ck_assert_pstr_eq(ulimit.type, good[_i].type);
        ck_assert_uint_eq(ulimit.soft, good[_i].soft);
        ck_assert_uint_eq(ulimit.hard, good[_i].hard);
}
END_TEST

static const struct {
        const char *value, *message;
} bad[] = {
        { "", "NAME=SOFT" },
        { "nofile", "NAME=SOFT" },
        { "HOST", "NAME=SOFT" },
        { "=5", "no limit ''" },
        { "as=5", "no limit 'as'" },
        { "nofiles=5", "no limit 'nofiles'" },
        { "nofile=", "NAME=SOFT" },
        { "nofile=:5", "'' is no limit" },
        { "nofile=5:", "'' is no limit" },
        { "nofile=1:2:3", "NAME=SOFT" },
        { "nofile=-2", "'-2'" },
        { "nofile=5x", "'5x'" },
        { "nofile= 5", "' 5'" },
        { "nofile=9223372036854775808", "9223372036854775808" },
        { "nofile=5:2", "above the hard" },
        { "nofile=-1:5", "above the hard" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        Ulimit ulimit = { .type = "untouched" };

        ck_assert(!ulimit_parse(bad[_i].value, &ulimit, &error));
        expect_error(error, KT_ERROR_USAGE, bad[_i].message);
        ck_assert_str_eq(ulimit.type, "untouched");
}
END_TEST

TEST_MAIN("ulimit", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
