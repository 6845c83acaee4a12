/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/size.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "0", "0" },
        { "1", "1" },
        { "1b", "1" },
        { "64m", "67108864" },
        { "64M", "67108864" },
        { "64mb", "67108864" },
        { "64MiB", "67108864" },
        { "64 m", "67108864" },
        { "1.5kib", "1536" },
        { "0.5", "0" },
        { "2.k", "2048" },
        { "1g", "1073741824" },
        { "1t", "1099511627776" },
        { "1p", "1125899906842624" },
        { "8191p", "9222246136947933184" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "size" },      { "m", KT_ERROR_USAGE, "size" },
        { "-1", KT_ERROR_USAGE, "size" },    { "1x", KT_ERROR_USAGE, "size" },
        { "1mm", KT_ERROR_USAGE, "size" },   { "1i", KT_ERROR_USAGE, "size" },
        { "1mi", KT_ERROR_USAGE, "size" },   { ".5", KT_ERROR_USAGE, "size" },
        { "1  m", KT_ERROR_USAGE, "size" },  { "1m ", KT_ERROR_USAGE, "size" },
        { " 1m", KT_ERROR_USAGE, "size" },   { "0x10", KT_ERROR_USAGE, "size" },
        { "8192p", KT_ERROR_USAGE, "size" }, { "99999999999999999999", KT_ERROR_USAGE, "size" },
};

static char *parse(const char *value, GError **error) {
        guint64 bytes = 7;

        if (size_parse(value, &bytes, error))
                return g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
        ck_assert_uint_eq(bytes, 7);
        return NULL;
}

PARSE_TESTS(parse)

TEST_MAIN("size", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
