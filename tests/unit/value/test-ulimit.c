/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/ulimit.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "nofile=100", "RLIMIT_NOFILE 100 100" },
        { "nofile=100:200", "RLIMIT_NOFILE 100 200" },
        { "core=-1", "RLIMIT_CORE -1 -1" },
        { "core=0:-1", "RLIMIT_CORE 0 -1" },
        { "memlock=unlimited", "RLIMIT_MEMLOCK -1 -1" },
        { "stack=9223372036854775807", "RLIMIT_STACK 9223372036854775807 9223372036854775807" },
        { "RLIMIT_CORE=5:-1", "RLIMIT_CORE 5 -1" },
        { "rtprio=99", "RLIMIT_RTPRIO 99 99" },
        { "host", "host" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "NAME=SOFT" },
        { "nofile", KT_ERROR_USAGE, "NAME=SOFT" },
        { "HOST", KT_ERROR_USAGE, "NAME=SOFT" },
        { "=5", KT_ERROR_USAGE, "no limit ''" },
        { "as=5", KT_ERROR_USAGE, "no limit 'as'" },
        { "nofiles=5", KT_ERROR_USAGE, "no limit 'nofiles'" },
        { "nofile=", KT_ERROR_USAGE, "NAME=SOFT" },
        { "nofile=:5", KT_ERROR_USAGE, "'' is no limit" },
        { "nofile=5:", KT_ERROR_USAGE, "'' is no limit" },
        { "nofile=1:2:3", KT_ERROR_USAGE, "NAME=SOFT" },
        { "nofile=-2", KT_ERROR_USAGE, "'-2'" },
        { "nofile=5x", KT_ERROR_USAGE, "'5x'" },
        { "nofile= 5", KT_ERROR_USAGE, "' 5'" },
        { "nofile=9223372036854775808", KT_ERROR_USAGE, "9223372036854775808" },
        { "nofile=5:2", KT_ERROR_USAGE, "above the hard" },
        { "nofile=-1:5", KT_ERROR_USAGE, "above the hard" },
};

static char *parse(const char *value, GError **error) {
        Ulimit ulimit = { .type = "untouched" };

        if (!ulimit_parse(value, &ulimit, error)) {
                ck_assert_str_eq(ulimit.type, "untouched");
                return NULL;
        }
        if (!ulimit.type)
                return g_strdup("host");
        return g_strdup_printf("%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, ulimit.type, (gint64) ulimit.soft,
                               (gint64) ulimit.hard);
}

PARSE_TESTS(parse)

TEST_MAIN("ulimit", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
