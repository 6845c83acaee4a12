/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/table/table.h"
#include "tests/unit/test-main.h"

static const char *const columns[] = { "NAME", "#SIZE", "LAST", NULL };

static Table *make_table(void) {
        Table *table = table_new(columns);

        table_add(table, g_strdup("a \"name\""), g_strdup("12.5"), g_strdup("x"));
        table_add(table, g_strdup("\xc3\xa4"), NULL, g_strdup("y"));
        return table;
}

START_TEST(test_text) {
        g_autoptr(Table) table = make_table();
        g_autofree char *text = table_format(table, false, 0), *bold = table_format(table, true, 0);

        ck_assert_str_eq(text, "NAME      SIZE  LAST\n"
                               "a \"name\"  12.5  x\n"
                               "\xc3\xa4         -     y\n");
        ck_assert(g_str_has_prefix(bold, "\033[1mNAME"));
}
END_TEST

/* As many columns as fit, and the first in any case. */
START_TEST(test_narrow) {
        g_autoptr(Table) table = make_table();
        g_autofree char *all = table_format(table, false, 20), *two = table_format(table, false, 19),
                        *one = table_format(table, false, 3);

        ck_assert(g_str_has_prefix(all, "NAME      SIZE  LAST\n"));
        ck_assert(g_str_has_prefix(two, "NAME      SIZE\n"));
        ck_assert_str_eq(one, "NAME\na \"name\"\n\xc3\xa4\n");
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
        g_autofree char *text = table_format(table, false, 0), *json = table_format_json(table);
        ck_assert_str_eq(text, "NAME      SIZE  LAST\n"
                               "\\x1b[2Jx  -     a\\xff\\u009b\n");
        ck_assert_ptr_nonnull(strstr(json, "\"\\u001B[2Jx\""));
        ck_assert_ptr_nonnull(strstr(json, "\"a\xef\xbf\xbd\\u009b\""));
}
END_TEST

static const char *const kinds[] = { "%SIZE", "~TIME", "@LIST", NULL };

START_TEST(test_kinds) {
        g_autoptr(Table) table = table_new(kinds);

        table_add(table, g_strdup("0"), g_strdup("1970-01-01T00:00:00Z"), g_strdup("a\nb c"));
        table_add(table, g_strdup("1023"), g_strdup("no time"), g_strdup("x\033"));
        table_add(table, g_strdup("1536"), NULL, NULL);
        table_add(table, g_strdup("18446744073709551615"), NULL, NULL);
        g_autofree char *text = table_format(table, false, 0), *json = table_format_json(table);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1), parts = g_strsplit_set(json, " \n", -1);
        g_autofree char *dense = g_strjoinv("", parts);

        ck_assert(g_str_has_prefix(lines[1], "0B     5")); /* fifty years ago, and more */
        ck_assert(g_str_has_suffix(lines[1], " years ago  a b c"));
        ck_assert(g_str_has_prefix(lines[2], "1023B  no time"));
        ck_assert(g_str_has_suffix(lines[2], "  x\\x1b"));
        ck_assert(g_str_has_prefix(lines[3], "1.5K   -"));
        ck_assert(g_str_has_prefix(lines[4], "16E    -"));
        ck_assert_ptr_nonnull(strstr(dense, "\"size\":1536,\"time\":null,\"list\":null"));
        ck_assert_ptr_nonnull(strstr(dense, "\"time\":\"1970-01-01T00:00:00Z\",\"list\":[\"a\",\"bc\"]"));
}
END_TEST

/* Words are the same words in JSON, and one line in text. */
START_TEST(test_list) {
        static const char *const columns_of_lists[] = { "@LIST", "@NONE", NULL };
        static const char *const words[] = { "a\nb", "\\n", "", "\t\"\xc3\xa4", "\xff", "c d" };
        g_autoptr(Table) table = table_new(columns_of_lists);

        table_add(table, table_join((char *const *) words, G_N_ELEMENTS(words)), table_join(NULL, 0));
        g_autofree char *text = table_format(table, false, 0), *json = table_format_json(table);
        g_auto(GStrv) parts = g_strsplit_set(json, " \n", -1);
        g_autofree char *dense = g_strjoinv("", parts);

        ck_assert_ptr_nonnull(strstr(text, "\na\\nb \\n  \\t\"\xc3\xa4 \\xff c d  -\n"));
        ck_assert_str_eq(dense, "[{\"list\":[\"a\\nb\",\"\\\\n\",\"\",\"\\t\\\"\xc3\xa4\",\"\xef\xbf\xbd\",\"cd\"],"
                                "\"none\":null}]");
}
END_TEST

START_TEST(test_long) {
        g_autoptr(Table) table = make_table();
        g_autofree char *text = table_format_long(table);

        ck_assert(g_str_has_prefix(text, "NAME: a \"name\"\nSIZE: 12.5\nLAST: x\nNAME: \xc3\xa4\nSIZE: -\n"));
}
END_TEST

static const struct {
        gint64 seconds;
        const char *shown;
} ages[] = {
        { -1, "in the future" },     { 0, "0 seconds ago" },     { 1, "1 second ago" },
        { 119, "119 seconds ago" },  { 120, "2 minutes ago" },   { 7199, "119 minutes ago" },
        { 7200, "2 hours ago" },     { 172799, "47 hours ago" }, { 172800, "2 days ago" },
        { 1209599, "13 days ago" },  { 1209600, "2 weeks ago" }, { 5259600, "2 months ago" },
        { 63115200, "2 years ago" },
};

START_TEST(test_age) {
        g_autofree char *shown = table_show_age(ages[_i].seconds);

        ck_assert_str_eq(shown, ages[_i].shown);
}
END_TEST

TEST_MAIN("table", {
        tcase_add_test(tcase, test_kinds);
        tcase_add_test(tcase, test_list);
        tcase_add_test(tcase, test_long);
        tcase_add_loop_test(tcase, test_age, 0, G_N_ELEMENTS(ages));
        tcase_add_test(tcase, test_text);
        tcase_add_test(tcase, test_json);
        tcase_add_test(tcase, test_narrow);
        tcase_add_test(tcase, test_names_of_strangers);
})
