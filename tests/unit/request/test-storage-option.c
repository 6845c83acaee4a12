/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/storage-option.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "size=64k", "65536 0% 7" }, { "size=1.5g", "1610612736 0% 7" },
        { "size=1%", "0 1% 7" },      { "size=100%", "0 100% 7" },
        { "inodes=64", "5 6% 64" },   { "inodes=9223372036854775807", "5 6% 9223372036854775807" },
};

static const BadValue bad[] = {
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
        { "", KT_ERROR_UNSUPPORTED, "size=SIZE, inodes=NUMBER and" },
        { "size", KT_ERROR_UNSUPPORTED, "size=SIZE, inodes=NUMBER and" },
        { "overlay.size=1g", KT_ERROR_UNSUPPORTED, "size=SIZE, inodes=NUMBER and" },
};

/* What the option does not say stays as it was; a size takes the place of a percentage, and the other way round. */
static char *parse(const char *value, GError **error) {
        StorageLimits limits = { .size = 5, .percent = 6, .inodes = 7 };
        bool parsed = storage_option_parse(value, &limits, error);
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT " %u%% %" G_GUINT64_FORMAT, limits.size,
                                                limits.percent, limits.inodes);

        if (parsed)
                return g_steal_pointer(&text);
        ck_assert_str_eq(text, "5 6% 7");
        return NULL;
}

PARSE_TESTS(parse)

static char *parse_stores(const char *value) {
        g_autoptr(GPtrArray) stores = NULL;
        g_autoptr(GError) error = NULL;
        bool is_stores;

        if (!storage_option_parse_stores(value, &stores, &is_stores, &error))
                return g_strdup(error->message);
        if (stores)
                g_ptr_array_add(stores, NULL);
        return !is_stores ? g_strdup("no") : stores ? g_strjoinv(" ", (char **) stores->pdata) : g_strdup("none");
}

START_TEST(test_stores) {
        static const struct {
                const char *value, *expected;
        } stores[] = {
                { "additionalimagestore=/usr/lib/bootc/storage", "/usr/lib/bootc/storage" },
                { "overlay.additionalimagestore=/a/,/b/../c", "/a /c" },
                { "additionalimagestore=", "none" },
                { "additionalimagestore=/a,b", "'b' is not an absolute path" },
                { "additionalimagestores=/a", "no" },
                { "size=1g", "no" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
                g_autofree char *text = parse_stores(stores[i].value);

                ck_assert_str_eq(text, stores[i].expected);
        }
}
END_TEST

START_TEST(test_stores_of_all_options) {
        static const char *const values[] = { "size=1g", "additionalimagestore=/a", "additionalimagestore=b",
                                              "additionalimagestore=/c/" };
        g_autoptr(GPtrArray) options = g_ptr_array_new(), none = NULL, stores = NULL;

        none = storage_option_find_stores(options);
        ck_assert_ptr_null(none);
        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                g_ptr_array_add(options, (char *) values[i]);
        stores = storage_option_find_stores(options);
        ck_assert_uint_eq(stores->len, 2);
        ck_assert_str_eq(stores->pdata[0], "/a");
        ck_assert_str_eq(stores->pdata[1], "/c");
}
END_TEST

TEST_MAIN("storage-option", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_stores);
        tcase_add_test(tcase, test_stores_of_all_options);
})
