/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/cdi-yaml/cdi-yaml.h"
#include "libstart/base/error.h"
#include "libstart/json/emit.h"
#include "libstart/yaml/tree.h"

static bool is_number(const char *key) {
        static const char *const numbers[] = {
                "major", "minor", "fileMode", "uid", "gid", "timeout", "additionalGids", NULL,
        };

        return g_strv_contains(numbers, key);
}

/* As YAML 1.1 has it, "010" is eight, which Podman reads, too; "0o10" is the same of YAML 1.2. */
static bool parse_number(const char *text, guint64 *ret) {
        bool is_octal = g_str_has_prefix(text, "0o");
        char *end;

        if (!g_ascii_isdigit(text[0]))
                return false;
        *ret = g_ascii_strtoull(is_octal ? text + 2 : text, &end, is_octal ? 8 : 0);
        return *end == '\0' && end != text;
}

/* By the key whose value it is, or that of the list that it is in. */
static bool is_to_be_number(const YamlNode *node) {
        const char *key = node->key ?: node->parent->key;

        return node->is_plain && key && is_number(key);
}

static void emit_scalar(yajl_gen gen, const YamlNode *node) {
        guint64 number;

        if (is_to_be_number(node) && parse_number(node->text, &number))
                yajl_gen_integer(gen, (long long) MIN(number, G_MAXINT64));
        else
                json_emit_string(gen, node->text);
}

static void emit(yajl_gen gen, const YamlNode *node);

/* What is null is not there. */
static void emit_items(yajl_gen gen, const YamlNode *node) {
        for (guint i = 0; i < node->items->len; i++) {
                const YamlNode *item = node->items->pdata[i];

                if (yaml_node_is_null(item))
                        continue;
                if (item->key)
                        json_emit_string(gen, item->key);
                emit(gen, item);
        }
}

/* No deeper than the tree, which has a limit. */
static void emit(yajl_gen gen, const YamlNode *node) {
        switch (node->type) {
        case YAML_TREE_SCALAR:
                emit_scalar(gen, node);
                break;
        case YAML_TREE_LIST:
                yajl_gen_array_open(gen);
                emit_items(gen, node);
                yajl_gen_array_close(gen);
                break;
        case YAML_TREE_MAP:
                yajl_gen_map_open(gen);
                emit_items(gen, node);
                yajl_gen_map_close(gen);
                break;
        }
}

static bool check_documents(const GPtrArray *documents, GError **error) {
        const YamlNode *first = documents->len > 0 ? documents->pdata[0] : NULL;
        const YamlNode *second = documents->len > 1 ? documents->pdata[1] : NULL;

        if (!first)
                return error_set(error, KT_ERROR_FAILED, "it is empty");
        if (first->type == YAML_TREE_SCALAR)
                return error_set(error, KT_ERROR_FAILED, "%u:%u: there is no map", first->line, first->column);
        return !second ||
               error_set(error, KT_ERROR_FAILED, "%u:%u: there is a second document", second->line, second->column);
}

char *cdi_yaml_to_json(const char *text, gsize length, GError **error) {
        g_autoptr(YamlTree) tree = yaml_tree_parse(text, length, error);
        yajl_gen gen;

        if (!tree || !check_documents(tree->documents, error))
                return NULL;
        gen = json_emit_new(false);
        emit(gen, tree->documents->pdata[0]);
        return json_emit_finish(gen);
}
