/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum YamlType {
        YAML_TREE_SCALAR,
        YAML_TREE_LIST,
        YAML_TREE_MAP,
} YamlType;

typedef struct YamlNode YamlNode;

/* A value, and where it stands. All of it belongs to the tree. */
struct YamlNode {
        YamlType type;
        unsigned line, column; /* from 1; of what an alias stands for, of the alias */
        const char *text;      /* of a scalar, without a NUL in it */
        bool is_plain;         /* of a scalar: without quotes */
        GPtrArray *items;      /* of a list or a map: of YamlNode* */
        const YamlNode *parent;
        const char *key; /* in its parent, where no two are alike; NULL in a list */
        guint index;     /* in its parent */
};

typedef struct YamlTree {
        GPtrArray *documents; /* of YamlNode*: those that are not empty */
        GPtrArray *nodes;     /* all that there are */
        GStringChunk *strings;
} YamlTree;

/* Reads a stream of documents: maps, lists, scalars, anchors, aliases and merge keys (<<) as YAML 1.1 has them. An
 * alias is a copy of what it stands for. Refused are tags, keys that are no text or stand twice in a map, more than
 * 32 levels and more than 65,536 values, those that aliases make among them. Pure. Fails with KT_ERROR_FAILED and
 * "LINE:COLUMN: ..."; transfer full. */
YamlTree *yaml_tree_parse(const char *text, gsize length, GError **error);
void yaml_tree_free(YamlTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlTree, yaml_tree_free)

/* Null, which is the same as not to be there. True for NULL, too. */
bool yaml_node_is_null(const YamlNode *node);

/* The value of a key; NULL where the map is NULL or none, has no such key, or has null there. */
const YamlNode *yaml_node_get(const YamlNode *map, const char *key);

/* "spec.containers[0].name". Transfer full. */
char *yaml_node_path(const YamlNode *node);
