/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/storage-option.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value;
        StorageLimits limits;
} good[] = {
        { "size=64k", { .size = 64 << 10, .inodes = 7 } },
        { "size=1.5g", { .size = 3 << 29, .inodes = 7 } },
        { "size=1%", { .percent = 1, .inodes = 7 } },
        { "size=100%", { .percent = 100, .inodes = 7 } },
        { "inodes=64", { .size = 5, .percent = 6, .inodes = 64 } },
        { "inodes=9223372036854775807", { .size = 5, .percent = 6, .inodes = G_MAXINT64 } },
};

/* What the option does not say stays as it was; a size takes the place of a percentage, and the other way round. */
START_TEST(test_good) {
        StorageLimits limits = { .size = 5, .percent = 6, .inodes = 7 };
        g_autoptr(GError) error = NULL;

        ck_assert_msg(storage_option_parse(good[_i].value, &limits, &error), "%s", good[_i].value);
        ck_assert_uint_eq(limits.size, good[_i].limits.size);
        ck_assert_uint_eq(limits.percent, good[_i].limits.percent);
        ck_assert_uint_eq(limits.inodes, good[_i].limits.inodes);
}
END_TEST

static const struct {
        const char *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "size=0", KT_ERROR_USAGE, "100% is all" },
        { "size=63k", KT_ERROR_USAGE, "100% is all" },
        { "size=", KT_ERROR_USAGE, "size" },
        { "size=infinity", KT_ERROR_USAGE, "is no size" },
        { "size=-1", KT_ERROR_USAGE, "is no size" },
        { "size=8192p", KT_ERROR_USAGE, "too large" },
        { "size=%", KT_ERROR_USAGE, "percentage" },
        { "size=0%", KT_ERROR_USAGE, "percentage" },
        { "size=101%", KT_ERROR_USAGE, "percentage" },
        { "size=1.5%", KT_ERROR_USAGE, "percentage" },
        { "size=10 %", KT_ERROR_USAGE, "percentage" },
        { "size=10%%", KT_ERROR_USAGE, "percentage" },
        { "inodes=0", KT_ERROR_USAGE, "number of inodes" },
        { "inodes=63", KT_ERROR_USAGE, "number of inodes" },
        { "inodes=-1", KT_ERROR_USAGE, "number of inodes" },
        { "inodes=10k", KT_ERROR_USAGE, "number of inodes" },
        { "inodes=18446744073709551616", KT_ERROR_USAGE, "number of inodes" },
        { "inodes=", KT_ERROR_USAGE, "number of inodes" },
        { "", KT_ERROR_UNSUPPORTED, "size=SIZE and inodes=NUMBER" },
        { "size", KT_ERROR_UNSUPPORTED, "size=SIZE and inodes=NUMBER" },
        { "overlay.size=1g", KT_ERROR_UNSUPPORTED, "size=SIZE and inodes=NUMBER" },
};

START_TEST(test_bad) {
        StorageLimits limits = { .size = 5, .percent = 6, .inodes = 7 };
        g_autoptr(GError) error = NULL;

        ck_assert_msg(!storage_option_parse(bad[_i].value, &limits, &error), "%s", bad[_i].value);
        expect_error(error, bad[_i].code, bad[_i].message);
        ck_assert_uint_eq(limits.size, 5);
        ck_assert_uint_eq(limits.percent, 6);
        ck_assert_uint_eq(limits.inodes, 7);
}
END_TEST

TEST_MAIN("storage-option", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
