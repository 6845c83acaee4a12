/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/output.h"

/* Of names with blanks between, the one that is `key` but for its case; or NULL. */
static const char *find_name(const char *names, const char *key) {
        g_auto(GStrv) all = g_strsplit(names, " ", -1);

        for (char **name = all; *name; name++)
                if (g_ascii_strcasecmp(*name, key) == 0)
                        return g_intern_string(*name);
        return NULL;
}

/* ret_row: NULL of one that somebody asks for. */
static const char *find_field(const char *key, const char *read, const KubeField *others, const KubeField **ret_row) {
        const char *found = find_name(read, key);

        *ret_row = NULL;
        for (; !found && others && others->names; others++) {
                found = find_name(others->names, key);
                *ret_row = others;
        }
        return found;
}

/* Go reads JSON with no regard to case, and Podman is written in it: `hostPid` is hostPID. Kubernetes refuses it. */
static void correct_case(Kube *kube, const YamlNode *map, guint i, const char *name) {
        YamlNode *node = map->items->pdata[i];

        if (!name || g_str_equal(name, node->key))
                return;
        if (yaml_node_get(map, name)) {
                kube_error(kube, node, "is there twice: as %s, too", name);
                return;
        }
        kube_warning(kube, node, "is taken for %s, as by Podman; Kubernetes does not know it", name);
        node->key = name;
}

void kube_check_field(Kube *kube, const YamlNode *node, const char *read, const KubeField *others) {
        const KubeField *row;
        const char *name = find_field(node->key, read, others, &row);

        if (yaml_node_is_null(node))
                return;
        if (g_strcmp0(name, node->key) != 0)
                kube_error(kube, node, "unknown field: what it asks for would be missing; correct or remove it");
        else if (row && row->support == KUBE_REFUSED)
                kube_error(kube, node, "is not supported: %s", row->why);
        else if (row && row->support == KUBE_IGNORED)
                kube_warning(kube, node, "is ignored: %s", row->why);
}

bool kube_check(Kube *kube, const YamlNode *map, const char *read, const KubeField *others) {
        const KubeField *row;

        if (yaml_node_is_null(map))
                return true;
        if (map->type != YAML_TREE_MAP) {
                kube_error(kube, map, "must be a map");
                return false;
        }
        for (guint i = 0; i < map->items->len; i++) {
                const YamlNode *node = map->items->pdata[i];

                correct_case(kube, map, i, find_field(node->key, read, others, &row));
                kube_check_field(kube, node, read, others);
        }
        return true;
}

const char *kube_scalar(Kube *kube, const YamlNode *node) {
        if (node->type == YAML_TREE_SCALAR)
                return node->text;
        kube_error(kube, node, "must be a text");
        return NULL;
}

const char *kube_text(Kube *kube, const YamlNode *map, const char *name) {
        const YamlNode *node = yaml_node_get(map, name);

        return node ? kube_scalar(kube, node) : NULL;
}

bool kube_flag(Kube *kube, const YamlNode *map, const char *name, bool otherwise) {
        const YamlNode *node = yaml_node_get(map, name);
        const char *text = node && node->type == YAML_TREE_SCALAR && node->is_plain ? node->text : NULL;

        if (!node)
                return otherwise;
        if (g_strcmp0(text, "true") == 0 || g_strcmp0(text, "false") == 0)
                return g_strcmp0(text, "true") == 0;
        kube_error(kube, node, "must be true or false");
        return otherwise;
}

bool kube_number(Kube *kube, const YamlNode *map, const char *name, gint64 *ret) {
        const YamlNode *node = yaml_node_get(map, name);
        const char *text = node && node->type == YAML_TREE_SCALAR ? node->text : NULL;

        if (!node)
                return false;
        if (text && g_ascii_string_to_signed(text, 10, 0, G_MAXINT32, ret, NULL))
                return true;
        kube_error(kube, node, "must be a number from 0 to %d", G_MAXINT32);
        return false;
}

static const GPtrArray *items_of(Kube *kube, const YamlNode *node, YamlType type) {
        static GPtrArray *nothing = NULL;

        if (!nothing)
                nothing = g_ptr_array_new();
        if (node && node->type != type)
                kube_error(kube, node, type == YAML_TREE_LIST ? "must be a list" : "must be a map");
        return node && node->type == type ? node->items : nothing;
}

const GPtrArray *kube_list(Kube *kube, const YamlNode *map, const char *name) {
        return items_of(kube, yaml_node_get(map, name), YAML_TREE_LIST);
}

const GPtrArray *kube_map(Kube *kube, const YamlNode *map, const char *name) {
        return items_of(kube, yaml_node_get(map, name), YAML_TREE_MAP);
}

/* Podman takes more than Kubernetes, and its own volumes have digests as their names. */
bool kube_is_name(const char *name) {
        return g_ascii_isalnum(name[0]) && strlen(name) <= 100 &&
               strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") == strlen(name);
}
