/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/output.h"

static const KubeField *find(const KubeField *fields, const char *name) {
        for (; fields->name; fields++)
                if (g_str_equal(fields->name, name))
                        return fields;
        return NULL;
}

/* Go reads JSON with no regard to case, and Podman is written in it: `hostPid` is hostPID. Kubernetes refuses it. */
static void correct_case(Kube *kube, const YamlNode *map, guint i, const KubeField *fields) {
        YamlNode *node = map->items->pdata[i];

        for (; fields->name && g_ascii_strcasecmp(fields->name, node->key) != 0; fields++)
                ;
        if (!fields->name || g_str_equal(fields->name, node->key))
                return;
        if (yaml_node_get(map, fields->name)) {
                kube_error(kube, node, "is there twice: as %s, too", fields->name);
                return;
        }
        kube_warning(kube, node, "is taken for %s, as by Podman; Kubernetes does not know it", fields->name);
        map->keys->pdata[i] = (gpointer) fields->name;
        node->key = fields->name;
}

void kube_check_field(Kube *kube, const YamlNode *node, const KubeField *fields) {
        const KubeField *field = find(fields, node->key);

        if (yaml_node_is_null(node))
                return;
        if (!field)
                kube_error(kube, node, "unknown field: what it asks for would be missing; correct or remove it");
        else if (field->support == KUBE_REFUSED)
                kube_error(kube, node, "is not supported: %s", field->why);
        else if (field->support == KUBE_IGNORED)
                kube_warning(kube, node, "is ignored: %s", field->why);
}

bool kube_check(Kube *kube, const YamlNode *map, const KubeField *fields) {
        if (yaml_node_is_null(map))
                return true;
        if (map->type != YAML_TREE_MAP) {
                kube_error(kube, map, "must be a map");
                return false;
        }
        for (guint i = 0; i < map->items->len; i++) {
                correct_case(kube, map, i, fields);
                kube_check_field(kube, map->items->pdata[i], fields);
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
