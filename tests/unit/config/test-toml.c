/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/base/string-order.h"
#include "libstart/config/toml.h"
#include "tests/unit/base/parse-tests.h"

static void describe(const TomlValue *value, GString *text);

static void describe_table(GHashTable *table, GString *text) {
        guint n;
        g_autofree char **keys = (char **) g_hash_table_get_keys_as_array(table, &n);

        if (n > 1)
                qsort(keys, n, sizeof *keys, string_order);
        g_string_append_c(text, '{');
        for (guint i = 0; i < n; i++) {
                g_string_append_printf(text, "%s%s=", i > 0 ? " " : "", keys[i]);
                describe(g_hash_table_lookup(table, keys[i]), text);
        }
        g_string_append_c(text, '}');
}

static void describe(const TomlValue *value, GString *text) {
        switch (value->type) {
        case TOML_STRING:
                g_string_append_printf(text, "'%s'", value->string);
                break;
        case TOML_BOOLEAN:
                g_string_append(text, value->boolean ? "true" : "false");
                break;
        case TOML_OTHER:
                g_string_append(text, value->string);
                break;
        case TOML_ARRAY:
                g_string_append_c(text, '[');
                for (guint i = 0; i < value->array->len; i++) {
                        g_string_append(text, i > 0 ? " " : "");
                        describe(value->array->pdata[i], text);
                }
                g_string_append_c(text, ']');
                break;
        case TOML_TABLE:
                describe_table(value->table, text);
        }
}

static char *parse(const char *value, GError **error) {
        g_autoptr(TomlValue) top = toml_parse(value, strlen(value), "x.conf", error);
        GString *text;

        if (!top)
                return NULL;
        text = g_string_new(NULL);
        describe(top, text);
        return g_string_free(text, FALSE);
}

static const GoodValue good[] = {
        { "", "{}" },
        { "# only a comment", "{}" },
        { "[engine]\nruntime = \"crun\" # as here\n", "{engine={runtime='crun'}}" },
        { "[a]\r\nb = true\r\n", "{a={b=true}}" },
        { "a.\"b c\".d = 'x'", "{a={b c={d='x'}}}" },
        { "[a.b]\nx=1\n[a]\ny=2", "{a={b={x=1} y=2}}" },
        { "a = [ \"x\", # one\n \"y\",\n]", "{a=['x' 'y']}" },
        { "a = {b = [1, 2], c = {}}", "{a={b=[1 2] c={}}}" },
        { "[[r]]\nn='1'\n[r.t]\nx=true\n[[r]]\nn='2'", "{r=[{n='1' t={x=true}} {n='2'}]}" },
        { "a = 'no \\escape'", "{a='no \\escape'}" },
        { "a = \"\\u00e4\\t\\\"\"", "{a='ä\t\"'}" },
        { "a = \"\"\"\nx\n  y\"\"\"", "{a='x\n  y'}" },
        { "a = \"\"\"x \\\n   y\"\"\"", "{a='x y'}" },
        { "a = '''it's'''", "{a='it's'}" },
        { "a = 1979-05-27T07:32:00Z", "{a=1979-05-27T07:32:00Z}" },
        { "a = -inf", "{a=-inf}" },
};

/* Each says its line. */
static const BadValue bad[] = {
        { "a", KT_ERROR_FAILED, "x.conf:1: expected '='" },
        { "\na = ", KT_ERROR_FAILED, "x.conf:2: expected a value" },
        { "a = yes", KT_ERROR_FAILED, "x.conf:1: expected a value" },
        { "a = \"x", KT_ERROR_FAILED, "not closed" },
        { "a = \"x\ny\"", KT_ERROR_FAILED, "not closed on its line" },
        { "a = \"\\q\"", KT_ERROR_FAILED, "unknown escape" },
        { "a = \"\\u0000\"", KT_ERROR_FAILED, "no character" },
        { "a = \"\\ud800\"", KT_ERROR_FAILED, "no character" },
        { "a = 'x' b = 'y'", KT_ERROR_FAILED, "end of the line" },
        { "a = 1\n\na = 2", KT_ERROR_FAILED, "x.conf:3: 'a' is already defined on line 1" },
        { "[t]\n[t]", KT_ERROR_FAILED, "x.conf:2: 't' is already defined on line 1" },
        { "a = {b = 1}\n[a]\nc = 1", KT_ERROR_FAILED, "already defined" },
        { "a = [1]\n[[a]]", KT_ERROR_FAILED, "already defined" },
        { "a = [1 2]", KT_ERROR_FAILED, "expected ',' or ']'" },
        { "[t", KT_ERROR_FAILED, "x.conf:1:" },
        { "a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1", KT_ERROR_FAILED, "nested too deeply" },
        { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1", KT_ERROR_FAILED,
          "too many parts" },
};

PARSE_TESTS(parse)

START_TEST(test_get_can_be_nested) {
        static const char text[] = "[a.b]\nc = 'x'";
        g_autoptr(TomlValue) top = toml_parse(text, strlen(text), "x.conf", NULL);
        const TomlValue *c = toml_get(toml_get(toml_get(top, "a"), "b"), "c");

        ck_assert(c && c->type == TOML_STRING);
        ck_assert_uint_eq(c->line, 2);
        ck_assert_ptr_null(toml_get(toml_get(toml_get(top, "x"), "b"), "c"));
        ck_assert_ptr_null(toml_get(c, "d"));
}
END_TEST

TEST_MAIN("toml", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_get_can_be_nested);
})
