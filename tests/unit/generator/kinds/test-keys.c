/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/keys-container.h"
#include "tests/unit/test-main.h"

/* The table is searched by halves. */
START_TEST(is_sorted) {
        for (size_t i = 1; i < keys_container.n_keys; i++)
                ck_assert_msg(strcmp(keys_container.keys[i - 1].name, keys_container.keys[i].name) < 0,
                              "'%s' is before '%s'", keys_container.keys[i - 1].name, keys_container.keys[i].name);
}
END_TEST

/* As many as Quadlet has. */
START_TEST(is_complete) {
        ck_assert_uint_eq(keys_container.n_keys, 96);
}
END_TEST

/* A refused key says why, and a key that is an option names one that libstart has: handle_option() aborts else. */
START_TEST(has_texts) {
        for (size_t i = 0; i < keys_container.n_keys; i++) {
                const Key *key = &keys_container.keys[i];
                g_autofree char *help = launch_args_help(), *option = NULL;

                if (!key->handle)
                        ck_assert_msg(key->text && strlen(key->text) > 10, "'%s' does not say why", key->name);
                if (key->handle != handle_option)
                        continue;
                option = g_strdup_printf("--%s ", key->text);
                ck_assert_msg(strstr(help, option), "'%s' is an unknown option, %s", key->name, option);
        }
}
END_TEST

/* Key= in [Test], and what its handler was given. */
typedef struct Case {
        Read read;
        const char *lines[6];
        const char *values[6];
        unsigned bad[3]; /* numbers of the lines that are reported, from 1 */
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
        { READ_BOOLEAN, { "yes", "typo" }, { NULL }, { 2 } },
        { READ_BOOLEAN, { "yes", "" }, { "false" } },
        { READ_LINES, { "a b", "\"c\"" }, { "a b", "\"c\"" } },
        { READ_LINES, { "a", "", "b", "c" }, { "b", "c" } },
        { READ_LINES, { "a", "" }, { NULL } },
        { READ_WORDS, { "a \"b c\"", "d\\x" }, { "a", "b c", "d\\x" } },
        { READ_WORDS, { "a", "", "b" }, { "b" } },
        { READ_WORDS, { "a", "\"b" }, { "a" }, { 2 } },
        { READ_WORDS, { "\"never read", "", "b" }, { "b" } },
        { READ_ARGS, { "a \\x41", "'b c'" }, { "a", "A", "b c" } },
        { READ_ARGS, { "\\q", "a", "\\q" }, { "a" }, { 1, 3 } },
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

static GString *given;

static bool handle_text(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_string_append_printf(given, "%s|", value->text);
        return true;
}

static bool handle_number(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_string_append_printf(given, "%u:%s|", value->line->number, value->text);
        return true;
}

/* The lines become those of a file, with nothing else in it. */
static Conversion *apply_lines(SourceFile *source, const char *const *lines, const Key *key) {
        KeyTable table = { "Test", key, 1 };
        g_autoptr(GString) text = g_string_new("[Test]\n");
        Conversion *container;

        source->path = (char *) "FILE";
        source->unit = unit_file_new();
        for (; *lines; lines++)
                g_string_append_printf(text, "Key=%s\n", *lines);
        ck_assert(unit_file_parse(source->unit, "FILE", text->str, text->len, NULL));
        container = conversion_new(source, g_strdup("test.service"), NULL);
        g_string_truncate(given, 0);
        keys_apply(container, &table);
        return container;
}

START_TEST(reads) {
        const Case *c = &cases[_i];
        const Key key = { "Key", c->read, handle_text, NULL };
        SourceFile source = { 0 };
        g_autoptr(Conversion) container = apply_lines(&source, c->lines, &key);
        const GPtrArray *findings = conversion_findings(container);
        g_autoptr(GString) expected = g_string_new(NULL);
        unsigned n_bad = 0;

        for (unsigned i = 0; c->values[i]; i++)
                g_string_append_printf(expected, "%s|", c->values[i]);
        ck_assert_str_eq(given->str, expected->str);
        while (c->bad[n_bad])
                n_bad++;
        ck_assert_uint_eq(findings->len, n_bad);
        for (guint i = 0; i < n_bad; i++)
                ck_assert_uint_eq(((const Finding *) findings->pdata[i])->line->number, c->bad[i] + 1);
        ck_assert(container->is_refused == (n_bad > 0));
        unit_file_free(source.unit);
}
END_TEST

/* Each value knows the line it comes from. */
START_TEST(keeps_lines) {
        const Key key = { "Key", READ_PAIRS, handle_number, NULL };
        SourceFile source = { 0 };
        g_autoptr(Conversion) container = apply_lines(&source, (const char *[]) { "b=1 c=1", "a=2 b=2", NULL }, &key);

        ck_assert_str_eq(given->str, "3:a=2|3:b=2|2:c=1|");
        unit_file_free(source.unit);
}
END_TEST

/* Not only the last line, but none that was taken back. */
START_TEST(refuses_every_line) {
        const Key key = { "Key", READ_LINES, NULL, "no" };
        SourceFile source = { 0 };
        g_autoptr(Conversion) container = apply_lines(&source, (const char *[]) { "a", "", "b", "c", NULL }, &key);
        const GPtrArray *findings = conversion_findings(container);

        ck_assert_uint_eq(findings->len, 2);
        ck_assert_str_eq(((const Finding *) findings->pdata[0])->text, "FILE:4: 'Key=': not supported: no");
        ck_assert_str_eq(((const Finding *) findings->pdata[1])->text, "FILE:5: 'Key=': not supported, see FILE:4");
        unit_file_free(source.unit);
}
END_TEST

START_TEST(orders_findings) {
        const Key key = { "Key", READ_BOOLEAN, handle_text, NULL };
        SourceFile source = { 0 };
        g_autoptr(Conversion) container = apply_lines(&source, (const char *[]) { "yes", "no", NULL }, &key);
        const UnitSection *section = unit_file_section(source.unit, "Test");
        g_autoptr(GString) order = g_string_new(NULL);

        conversion_problem(container, NULL, "last");
        conversion_warning(container, &g_array_index(section->lines, UnitLine, 1), "third");
        conversion_problem(container, &g_array_index(section->lines, UnitLine, 0), "second");
        conversion_problem(container, &section->header, "first");
        for (guint i = 0; i < container->findings->len; i++) {
                const Finding *finding = conversion_findings(container)->pdata[i];

                g_string_append_printf(order, "%s%s\n", finding->kind == FINDING_PROBLEM ? "" : "(warning) ",
                                       finding->text);
        }
        ck_assert_str_eq(order->str, "FILE:1: first\nFILE:2: 'Key=': second\n(warning) FILE:3: 'Key=': third\n"
                                     "FILE: last\n");
        unit_file_free(source.unit);
}
END_TEST

TEST_MAIN("keys", {
        given = g_string_new(NULL);
        tcase_add_test(tcase, is_sorted);
        tcase_add_test(tcase, is_complete);
        tcase_add_test(tcase, has_texts);
        tcase_add_loop_test(tcase, reads, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, keeps_lines);
        tcase_add_test(tcase, refuses_every_line);
        tcase_add_test(tcase, orders_findings);
})
