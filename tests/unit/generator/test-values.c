/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/values.h"
#include "tests/unit/test-main.h"

typedef struct Case {
        Read read;
        const char *lines[6];
        const char *values[6];
        guint bad; /* number of the line that fails, from 1 */
} Case;

static const Case cases[] = {
        { READ_LAST, { "a", "b" }, { "b" } },
        { READ_LAST, { "\"a b\"" }, { "a b" } },
        { READ_LAST, { "\"\"a\"\"" }, { "\"a\"" } },
        { READ_LAST, { "\"" }, { "\"" } },
        { READ_LAST, { "'a'" }, { "'a'" } },
        { READ_LAST, { "a", "" }, { NULL } },
        { READ_LAST, { "\"\"" }, { NULL } },
        { READ_LAST_SET, { "a", "" }, { "" } },
        { READ_LAST_SET, { "a", "\"\"" }, { "" } },
        { READ_BOOLEAN, { "no", "YES" }, { "true" } },
        { READ_BOOLEAN, { "On" }, { "true" } },
        { READ_BOOLEAN, { "1" }, { "true" } },
        { READ_BOOLEAN, { "off" }, { "false" } },
        { READ_BOOLEAN, { "\"False\"" }, { "false" } },
        { READ_BOOLEAN, { "typo", "yes" }, { "true" } },
        { READ_BOOLEAN, { "yes", "typo" }, { NULL }, 2 },
        { READ_BOOLEAN, { "yes", "" }, { NULL }, 2 },
        { READ_LINES, { "a b", "\"c\"" }, { "a b", "\"c\"" } },
        { READ_LINES, { "a", "", "b", "c" }, { "b", "c" } },
        { READ_LINES, { "a", "" }, { NULL } },
        { READ_WORDS, { "a \"b c\"", "d\\x" }, { "a", "b c", "d\\x" } },
        { READ_WORDS, { "a", "", "b" }, { "b" } },
        { READ_WORDS, { "a", "\"b" }, { NULL }, 2 },
        { READ_WORDS, { "\"never read", "", "b" }, { "b" } },
        { READ_ARGS, { "a \\x41", "'b c'" }, { "a", "A", "b c" } },
        { READ_ARGS, { "a", "\\q" }, { NULL }, 2 },
        { READ_LAST_ARGS, { "a b", "c d" }, { "c", "d" } },
        { READ_LAST_ARGS, { "a b", "" }, { NULL } },
        { READ_LAST_ARGS, { "\\q", "c" }, { "c" } },
        { READ_LAST_ARGS, { "a \"\" b" }, { "a", "", "b" } },
        { READ_PAIRS, { "b=1 a=2", "b=3" }, { "a=2", "b=3" } },
        { READ_PAIRS, { "x \"y=a b\" x=1 xy=2" }, { "x=1", "xy=2", "y=a b" } },
        { READ_PAIRS, { "x=1", "x" }, { "x" } },
        { READ_PAIRS, { "a=1", "", "b=2" }, { "b=2" } },
        { READ_PAIRS, { "=1 a=" }, { "=1", "a=" } },
};

START_TEST(reads) {
        const Case *c = &cases[_i];
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) values = values_new();
        g_autoptr(GError) error = NULL;
        const UnitLine *bad = NULL;

        for (unsigned i = 0; c->lines[i]; i++) {
                UnitLine *line = g_new0(UnitLine, 1);

                line->key = "Key";
                line->value = c->lines[i];
                line->number = i + 1;
                g_ptr_array_add(lines, line);
        }
        ck_assert(values_read(values, lines, c->read, &bad, &error) == !c->bad);
        ck_assert_uint_eq(bad ? bad->number : 0, c->bad);
        if (c->bad)
                return;
        ck_assert_uint_eq(values->len, g_strv_length((char **) c->values));
        for (guint i = 0; i < values->len; i++)
                ck_assert_str_eq(g_array_index(values, Value, i).text, c->values[i]);
}
END_TEST

/* Each value knows the line it comes from. */
START_TEST(keeps_lines) {
        UnitLine first = { .value = "b=1 c=1", .number = 7 }, second = { .value = "a=2 b=2", .number = 9 };
        g_autoptr(GPtrArray) lines = g_ptr_array_new();
        g_autoptr(GArray) values = values_new();
        const UnitLine *bad = NULL;
        const unsigned numbers[] = { 9, 9, 7 };

        g_ptr_array_add(lines, &first);
        g_ptr_array_add(lines, &second);
        ck_assert(values_read(values, lines, READ_PAIRS, &bad, NULL));
        ck_assert_uint_eq(values->len, 3);
        for (guint i = 0; i < values->len; i++)
                ck_assert_uint_eq(g_array_index(values, Value, i).line->number, numbers[i]);
}
END_TEST

TEST_MAIN("values", {
        tcase_add_loop_test(tcase, reads, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, keeps_lines);
})
