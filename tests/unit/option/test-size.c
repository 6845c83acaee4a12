/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/size.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value;
        guint64 bytes;
} good[] = {
        { "0", 0 },
        { "1", 1 },
        { "1b", 1 },
        { "64m", 64 << 20 },
        { "64M", 64 << 20 },
        { "64mb", 64 << 20 },
        { "64MiB", 64 << 20 },
        { "64 m", 64 << 20 },
        { "1.5kib", 1536 },
        { "0.5", 0 },
        { "2.k", 2048 },
        { "1g", 1 << 30 },
        { "1t", G_GUINT64_CONSTANT(1) << 40 },
        { "1p", G_GUINT64_CONSTANT(1) << 50 },
        { "8191p", G_GUINT64_CONSTANT(8191) << 50 },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        guint64 bytes = 7;

        ck_assert_msg(size_parse(good[_i].value, &bytes, &error), "%s", good[_i].value);
        ck_assert_uint_eq(bytes, good[_i].bytes);
}
END_TEST

static const char *const bad[] = { "",   "m",    "-1",  "1x",  "1mm",  "1i",    "1mi",
                                   ".5", "1  m", "1m ", " 1m", "0x10", "8192p", "99999999999999999999" };

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        guint64 bytes = 7;

        ck_assert_msg(!size_parse(bad[_i], &bytes, &error), "%s", bad[_i]);
        expect_error(error, KT_ERROR_USAGE, "size");
        ck_assert_uint_eq(bytes, 7);
}
END_TEST

TEST_MAIN("size", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
