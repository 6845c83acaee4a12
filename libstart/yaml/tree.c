/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yaml.h>

#include "libstart/base/error.h"
#include "libstart/yaml/tree.h"

#define DEPTH_MAX 32
#define NODES_MAX 65536

typedef struct Reading {
        yaml_parser_t parser;
        YamlTree *tree;
        GHashTable *anchors; /* name -> YamlNode, complete */
        YamlNode *open[DEPTH_MAX];
        const char *open_anchors[DEPTH_MAX];
        const char *key; /* of the map that is open last, where its value comes next */
        guint depth;
} Reading;

static bool fail_at(const yaml_mark_t *mark, const char *what, GError **error) {
        return error_set(error, KT_ERROR_FAILED, "%zu:%zu: %s", mark->line + 1, mark->column + 1, what);
}

bool yaml_node_is_null(const YamlNode *node) {
        return !node ||
               (node->type == YAML_TREE_SCALAR && node->is_plain &&
                (!node->text[0] || g_str_equal(node->text, "~") || g_ascii_strcasecmp(node->text, "null") == 0));
}

static const YamlNode *find(const YamlNode *map, const char *key) {
        for (guint i = 0; i < map->items->len; i++) {
                const YamlNode *item = map->items->pdata[i];

                if (g_str_equal(item->key, key))
                        return item;
        }
        return NULL;
}

const YamlNode *yaml_node_get(const YamlNode *map, const char *key) {
        const YamlNode *node = map && map->type == YAML_TREE_MAP ? find(map, key) : NULL;

        return yaml_node_is_null(node) ? NULL : node;
}

char *yaml_node_path(const YamlNode *node) {
        GString *path = g_string_new(NULL);

        for (; node->parent; node = node->parent) {
                g_autofree char *step = node->key ? g_strdup(node->key) : g_strdup_printf("[%u]", node->index);

                if (path->len > 0 && path->str[0] != '[')
                        g_string_prepend_c(path, '.');
                g_string_prepend(path, step);
        }
        return g_string_free(path, FALSE);
}

static void node_free(void *data) {
        YamlNode *node = data;

        g_clear_pointer(&node->items, g_ptr_array_unref);
        g_free(node);
}

/* NULL where there are too many. */
static YamlNode *node_new(Reading *reading, YamlType type, const yaml_mark_t *mark, GError **error) {
        YamlNode *node;

        if (reading->tree->nodes->len == NODES_MAX) {
                fail_at(mark, "more than 65536 values, counting those that aliases stand for", error);
                return NULL;
        }
        node = g_new0(YamlNode, 1);
        node->type = type;
        node->line = (unsigned) mark->line + 1;
        node->column = (unsigned) mark->column + 1;
        if (type != YAML_TREE_SCALAR)
                node->items = g_ptr_array_new();
        g_ptr_array_add(reading->tree->nodes, node);
        return node;
}

static void append(YamlNode *parent, const char *key, YamlNode *node) {
        node->parent = parent;
        node->key = key;
        node->index = parent->items->len;
        g_ptr_array_add(parent->items, node);
}

static YamlNode *copy(Reading *reading, const YamlNode *node, const yaml_mark_t *mark, guint depth, GError **error) {
        YamlNode *made;

        if (depth > DEPTH_MAX) {
                fail_at(mark, "more than 32 maps and lists inside each other", error);
                return NULL;
        }
        made = node_new(reading, node->type, mark, error);
        if (!made)
                return NULL;
        made->text = node->text;
        made->is_plain = node->is_plain;
        for (guint i = 0; node->items && i < node->items->len; i++) {
                YamlNode *item = copy(reading, node->items->pdata[i], mark, depth + 1, error);

                if (!item)
                        return NULL;
                append(made, ((YamlNode *) node->items->pdata[i])->key, item);
        }
        return made;
}

static bool merge_one(Reading *reading, YamlNode *map, const YamlNode *from, const yaml_mark_t *mark,
                      GError **error) {
        if (from->type != YAML_TREE_MAP)
                return fail_at(mark, "'<<' merges maps only", error);
        for (guint i = 0; i < from->items->len; i++) {
                const YamlNode *merged = from->items->pdata[i];
                YamlNode *item;

                if (find(map, merged->key))
                        continue;
                item = copy(reading, merged, mark, reading->depth, error);
                if (!item)
                        return false;
                append(map, merged->key, item);
        }
        return true;
}

/* A map's own keys count before those that it merges. Of merged ones the first counts. */
static bool merge(Reading *reading, YamlNode *map, const yaml_mark_t *mark, GError **error) {
        const YamlNode *from = find(map, "<<");

        if (!from)
                return true;
        g_ptr_array_remove(map->items, (void *) from);
        if (from->type != YAML_TREE_LIST)
                return merge_one(reading, map, from, mark, error);
        for (guint j = 0; j < from->items->len; j++)
                if (!merge_one(reading, map, from->items->pdata[j], mark, error))
                        return false;
        return true;
}

static bool place(Reading *reading, YamlNode *node, const yaml_mark_t *mark, GError **error) {
        YamlNode *parent = reading->depth > 0 ? reading->open[reading->depth - 1] : NULL;

        if (!parent) {
                if (!yaml_node_is_null(node))
                        g_ptr_array_add(reading->tree->documents, node);
                return true;
        }
        if (parent->type == YAML_TREE_MAP && !reading->key)
                return fail_at(mark, "a key is no text", error);
        append(parent, g_steal_pointer(&reading->key), node);
        return true;
}

static bool begin(Reading *reading, YamlType type, const yaml_mark_t *mark, const yaml_char_t *anchor,
                  GError **error) {
        YamlNode *node;

        if (reading->depth == DEPTH_MAX)
                return fail_at(mark, "more than 32 maps and lists inside each other", error);
        node = node_new(reading, type, mark, error);
        if (!node || !place(reading, node, mark, error))
                return false;
        reading->open_anchors[reading->depth] = anchor ? g_string_chunk_insert(reading->tree->strings,
                                                                               (const char *) anchor) :
                                                         NULL;
        reading->open[reading->depth++] = node;
        return true;
}

static bool end(Reading *reading, const yaml_mark_t *mark, GError **error) {
        YamlNode *node = reading->open[reading->depth - 1];
        const char *anchor = reading->open_anchors[reading->depth - 1];

        if (node->type == YAML_TREE_MAP && !merge(reading, node, mark, error))
                return false;
        reading->depth--;
        if (anchor)
                g_hash_table_insert(reading->anchors, (char *) anchor, node);
        return true;
}

static bool take_scalar(Reading *reading, const yaml_event_t *event, GError **error) {
        const char *text = (const char *) event->data.scalar.value, *anchor = (char *) event->data.scalar.anchor;
        const yaml_mark_t *mark = &event->start_mark;
        YamlNode *parent = reading->depth > 0 ? reading->open[reading->depth - 1] : NULL, *node;

        if (strlen(text) != event->data.scalar.length)
                return fail_at(mark, "a zero byte is in a text", error);
        text = g_string_chunk_insert_const(reading->tree->strings, text);
        if (parent && parent->type == YAML_TREE_MAP && !reading->key) {
                if (find(parent, text))
                        return fail_at(mark, "the key is in this map already", error);
                reading->key = text;
                return true;
        }
        node = node_new(reading, YAML_TREE_SCALAR, mark, error);
        if (!node)
                return false;
        node->text = text;
        node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (anchor)
                g_hash_table_insert(reading->anchors, g_string_chunk_insert_const(reading->tree->strings, anchor),
                                    node);
        return place(reading, node, mark, error);
}

static bool take_alias(Reading *reading, const yaml_event_t *event, GError **error) {
        const YamlNode *node = g_hash_table_lookup(reading->anchors, event->data.alias.anchor);
        YamlNode *made;

        if (!node)
                return fail_at(&event->start_mark, "there is no such anchor before this alias", error);
        made = copy(reading, node, &event->start_mark, reading->depth, error);
        return made && place(reading, made, &event->start_mark, error);
}

static bool has_tag(const yaml_event_t *event) {
        switch (event->type) {
        case YAML_SCALAR_EVENT:
                return event->data.scalar.tag;
        case YAML_MAPPING_START_EVENT:
                return event->data.mapping_start.tag;
        case YAML_SEQUENCE_START_EVENT:
                return event->data.sequence_start.tag;
        default:
                return false;
        }
}

static bool take(Reading *reading, const yaml_event_t *event, GError **error) {
        const yaml_mark_t *mark = &event->start_mark;

        if (has_tag(event))
                return fail_at(mark, "tags (!name) are not supported", error);
        switch (event->type) {
        case YAML_DOCUMENT_START_EVENT:
                g_hash_table_remove_all(reading->anchors);
                return true;
        case YAML_SCALAR_EVENT:
                return take_scalar(reading, event, error);
        case YAML_ALIAS_EVENT:
                return take_alias(reading, event, error);
        case YAML_MAPPING_START_EVENT:
                return begin(reading, YAML_TREE_MAP, mark, event->data.mapping_start.anchor, error);
        case YAML_SEQUENCE_START_EVENT:
                return begin(reading, YAML_TREE_LIST, mark, event->data.sequence_start.anchor, error);
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
                return end(reading, mark, error);
        default:
                return true;
        }
}

static bool read_all(Reading *reading, GError **error) {
        bool ok = true, ended = false;

        while (ok && !ended) {
                yaml_event_t event;

                if (!yaml_parser_parse(&reading->parser, &event))
                        return fail_at(&reading->parser.problem_mark, reading->parser.problem ?: "no YAML", error);
                ok = take(reading, &event, error);
                ended = event.type == YAML_STREAM_END_EVENT;
                yaml_event_delete(&event);
        }
        return ok;
}

YamlTree *yaml_tree_parse(const char *text, gsize length, GError **error) {
        YamlTree *tree = g_new0(YamlTree, 1);
        Reading reading = { .tree = tree, .anchors = g_hash_table_new(g_str_hash, g_str_equal) };
        bool ok;

        tree->documents = g_ptr_array_new();
        tree->nodes = g_ptr_array_new_with_free_func(node_free);
        tree->strings = g_string_chunk_new(4096);
        if (!yaml_parser_initialize(&reading.parser))
                g_error("out of memory");
        yaml_parser_set_encoding(&reading.parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&reading.parser, (const unsigned char *) text, length);
        ok = read_all(&reading, error);
        yaml_parser_delete(&reading.parser);
        g_hash_table_unref(reading.anchors);
        if (!ok)
                g_clear_pointer(&tree, yaml_tree_free);
        return tree;
}

void yaml_tree_free(YamlTree *tree) {
        g_ptr_array_unref(tree->documents);
        g_ptr_array_unref(tree->nodes);
        g_string_chunk_free(tree->strings);
        g_free(tree);
}
