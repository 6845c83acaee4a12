/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/table.h"
#include "tests/unit/base/expect-error.h"

static const char *const columns[] = { "NAME", "#SIZE", "LAST", NULL };

static Table *make_table(void) {
        Table *table = table_new(columns);

        table_add(table, g_strdup("a \"name\""), g_strdup("12.5"), g_strdup("x"));
        table_add(table, g_strdup("\xc3\xa4"), NULL, g_strdup("y"));
        return table;
}

START_TEST(test_text) {
        g_autoptr(Table) table = make_table();
        g_autofree char *text = table_format(table, false), *bold = table_format(table, true);

        ck_assert_str_eq(text, "NAME      SIZE  LAST\n"
                               "a \"name\"  12.5  x\n"
                               "\xc3\xa4         -     y\n");
        ck_assert(g_str_has_prefix(bold, "\033[1mNAME"));
}
END_TEST

START_TEST(test_json) {
        g_autoptr(Table) table = make_table(), empty = table_new(columns);
        g_autofree char *json = table_format_json(table), *none = table_format_json(empty);
        g_auto(GStrv) parts = g_strsplit_set(json, " \n", -1);
        g_autofree char *dense = g_strjoinv("", parts);

        ck_assert_str_eq(dense, "[{\"name\":\"a\\\"name\\\"\",\"size\":12.5,\"last\":\"x\"},"
                                "{\"name\":\"\xc3\xa4\",\"size\":null,\"last\":\"y\"}]");
        ck_assert_ptr_null(strpbrk(none, "{\"n"));
}
END_TEST

START_TEST(test_names_of_strangers) {
        g_autoptr(Table) table = table_new(columns);

        table_add(table, g_strdup("\033[2Jx"), NULL, g_strdup("a\xff\xc2\x9b"));
        g_autofree char *text = table_format(table, false), *json = table_format_json(table);
        ck_assert_str_eq(text, "NAME      SIZE  LAST\n"
                               "\\x1b[2Jx  -     a\\xff\\u009b\n");
        ck_assert_ptr_nonnull(strstr(json, "\"\\u001B[2Jx\""));
        ck_assert_ptr_nonnull(strstr(json, "\"a\xef\xbf\xbd\\u009b\""));
}
END_TEST

TEST_MAIN("table", {
        tcase_add_test(tcase, test_text);
        tcase_add_test(tcase, test_json);
        tcase_add_test(tcase, test_names_of_strangers);
})
