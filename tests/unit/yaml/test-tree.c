/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/yaml/tree.h"
#include "tests/unit/base/parse-tests.h"

static void print(const YamlNode *node, GString *text) {
        if (node->type == YAML_TREE_SCALAR) {
                g_string_append(text, yaml_node_is_null(node) ? "null" : node->text);
                return;
        }
        g_string_append_c(text, node->type == YAML_TREE_MAP ? '{' : '[');
        for (guint i = 0; i < node->items->len; i++) {
                if (i > 0)
                        g_string_append_c(text, ',');
                if (node->type == YAML_TREE_MAP)
                        g_string_append_printf(text, "%s:", ((const YamlNode *) node->items->pdata[i])->key);
                print(node->items->pdata[i], text);
        }
        g_string_append_c(text, node->type == YAML_TREE_MAP ? '}' : ']');
}

static char *parse(const char *value, GError **error) {
        g_autoptr(YamlTree) tree = yaml_tree_parse(value, strlen(value), error);
        GString *text;

        if (!tree)
                return NULL;
        text = g_string_new(NULL);
        for (guint i = 0; i < tree->documents->len; i++) {
                if (i > 0)
                        g_string_append_c(text, ' ');
                print(tree->documents->pdata[i], text);
        }
        return g_string_free(text, FALSE);
}

#define NINE(x) "[" x "," x "," x "," x "," x "," x "," x "," x "," x "]"
#define BOMB                                                                                                  \
        "a: &a " NINE("x") "\nb: &b " NINE("*a") "\nc: &c " NINE("*b") "\nd: &d " NINE("*c") "\ne: &e " NINE( \
                "*d") "\nf: " NINE("*e") "\n"
#define DEEP "[[[[[[[[[[[[[[[["

static const GoodValue good[] = {
        { "a: 1\nb: [x, 'y', \"z\"]", "{a:1,b:[x,y,z]}" },
        { "", "" },
        { "--- {a: ~}\n---\n---\nb", "{a:null} b" },
        { "a: &x {b: 1}\nc: *x", "{a:{b:1},c:{b:1}}" },
        { "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3", "{a:{b:1,c:2},d:{c:3,b:1}}" },
        { "a: |\n  one\n  two\n", "{a:one\ntwo\n}" },
};

static const BadValue bad[] = {
        { "a: 1\na: 2", KT_ERROR_FAILED, "2:1: the key is in this map already" },
        { "a: *x", KT_ERROR_FAILED, "1:4: there is no such anchor" },
        { "a: &x [*x]", KT_ERROR_FAILED, "1:8: there is no such anchor" },
        { "a: !!python/object x", KT_ERROR_FAILED, "1:4: tags" },
        { "[a]: b", KT_ERROR_FAILED, "a key is no text" },
        { "a: \"\\0\"", KT_ERROR_FAILED, "zero byte" },
        { "a: [", KT_ERROR_FAILED, "2:1" },
        { BOMB, KT_ERROR_FAILED, "more than 65536 values" },
        { DEEP DEEP DEEP, KT_ERROR_FAILED, "1:33: more than 32" },
        { "<<: 1", KT_ERROR_FAILED, "merges maps only" },
};

PARSE_TESTS(parse)

TEST_MAIN("yaml-tree", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
