/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/json/walk.h"
#include "tests/unit/base/parse-tests.h"

/* What keyturn reads of a document must be what Go's programs read of it: keys.h. */

static const char *const names[] = { "User", "config", NULL };

static char *parse(const char *value, GError **error) {
        yajl_val tree = json_parse_names(value, strlen(value), 8, names, error);

        if (!tree)
                return NULL;
        yajl_tree_free(tree);
        return g_strdup("read");
}

static const GoodValue good[] = {
        { "{}", "read" },
        { "{\"User\": \"0\", \"config\": {\"User\": \"1\"}}", "read" },
        { "[{\"a\": 1}, {\"a\": 2}]", "read" },
        /* Names of somebody's own. */
        { "{\"labels\": {\"Name\": \"a\", \"name\": \"b\"}}", "read" },
        { "{\"Labels\": {\"user\": \"a\"}}", "read" },
        { "{\"a\": {\"x\": {}}, \"b\": {\"x\": {}}}", "read" },
        /* Letters that are no s and no k for anybody. */
        { "{\"u\u0161er\": 1}", "read" },
};

static const BadValue bad[] = {
        { "{\"User\": \"0\", \"User\": \"1\"}", KT_ERROR_FAILED, "'User' twice" },
        { "{\"config\": {\"a\": 1, \"A\": 2}}", KT_ERROR_FAILED, "upper and lower case" },
        { "{\"user\": \"0\"}", KT_ERROR_FAILED, "'user' is 'User' for some programs" },
        { "{\"config\": {\"USER\": \"0\"}}", KT_ERROR_FAILED, "'USER' is 'User'" },
        { "{\"U\u017fer\": \"0\"}", KT_ERROR_FAILED, "is 'User' for some programs" },
        { "{\"a\": {\"k\": 1, \"\u212a\": 2}}", KT_ERROR_FAILED, "twice" },
        { "{\"labels\": {\"a\": 1, \"a\": 2}}", KT_ERROR_FAILED, "twice" },
        { "[{\"a\": 1, \"b\": {\"c\": 1, \"c\": 2}}]", KT_ERROR_FAILED, "'c' twice" },
        { "{\"User\\u0000\": \"0\"}", KT_ERROR_FAILED, "NUL" },
        { "{\"a\": \"\\ud800\"}", KT_ERROR_FAILED, "surrogate" },
        { "[[[[[[[[[1]]]]]]]]]", KT_ERROR_FAILED, "" },
};

PARSE_TESTS(parse)

/* Many keys are sorted to be compared, few are not: both find the pair. */
START_TEST(test_many_keys) {
        for (int with_pair = 0; with_pair <= 1; with_pair++) {
                g_autoptr(GString) text = g_string_new("{\"key7\": 0");
                g_autoptr(GError) error = NULL;
                g_autofree char *read = NULL;

                for (int i = 8; i < 8 + _i; i++)
                        g_string_append_printf(text, ", \"key%d\": %d", i, i);
                g_string_append(text, with_pair ? ", \"KEY7\": 1}" : "}");
                read = parse(text->str, &error);
                ck_assert_int_eq(read == NULL, with_pair);
                if (with_pair)
                        expect_error(error, KT_ERROR_FAILED, "twice");
        }
}
END_TEST

START_TEST(test_names_of_the_topmost_object) {
        static const char text[] = "{\"Web\": {\"a\": 1}, \"web\": {\"a\": 2}}";
        g_autoptr(GError) error = NULL;
        yajl_val tree = json_parse_map(text, strlen(text), 8, &error);

        ck_assert_msg(tree, "%s", error ? error->message : "");
        yajl_tree_free(tree);
        ck_assert_ptr_null(json_parse(text, strlen(text), 8, NULL));
}
END_TEST

TEST_MAIN("keys", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_many_keys, 0, 100);
        tcase_add_test(tcase, test_names_of_the_topmost_object);
})
