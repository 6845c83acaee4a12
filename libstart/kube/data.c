/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/fields.h"
#include "libstart/kube/parts.h"

void kube_data_add(const KubePod *pod, const char *name, GBytes *bytes, mode_t mode) {
        KubeData *data = g_new0(KubeData, 1);

        data->path = g_build_filename(pod->directory, name, NULL);
        data->bytes = bytes;
        data->mode = mode;
        g_ptr_array_add(pod->kube->data, data);
}

bool kube_data_exists(const KubePod *pod) {
        for (guint i = 0; i < pod->kube->data->len; i++) {
                const KubeData *data = pod->kube->data->pdata[i];

                if (g_str_has_prefix(data->path, pod->directory) && data->path[strlen(pod->directory)] == '/')
                        return true;
        }
        return false;
}

/* Those of a later one count. Of a ConfigMap binaryData is base64, of a Secret data is. */
static const char *const fields[] = { "binaryData", "data", "stringData" };

static bool is_base64(const YamlNode *map, const char *field) {
        bool is_secret = g_str_equal(yaml_node_get(map, "kind")->text, "Secret");

        return is_secret ? g_str_equal(field, "data") : g_str_equal(field, "binaryData");
}

/* A text of base64, in which line breaks may be. GLib's decoder takes anything. */
static bool is_coded(const char *text) {
        size_t n = 0, padding = 0;

        for (; *text; text++)
                if (g_ascii_isalnum(*text) || *text == '+' || *text == '/') {
                        if (padding > 0)
                                return false;
                        n++;
                } else if (*text == '=')
                        padding++;
                else if (!g_ascii_isspace(*text))
                        return false;
        return padding < 3 && (n + padding) % 4 == 0;
}

static GBytes *decode(Kube *kube, const YamlNode *node, const char *text) {
        gsize length;
        guchar *bytes;

        if (!is_coded(text)) {
                kube_error(kube, node, "is not base64");
                return NULL;
        }
        bytes = g_base64_decode(text, &length);
        return g_bytes_new_take(bytes, length);
}

GBytes *kube_data_value(Kube *kube, const YamlNode *map, const char *key) {
        for (size_t i = G_N_ELEMENTS(fields); i-- > 0;) {
                const YamlNode *node = yaml_node_get(yaml_node_get(map, fields[i]), key);
                const char *text = node ? kube_scalar(kube, node) : NULL;

                if (text && is_base64(map, fields[i]))
                        return decode(kube, node, text);
                if (text)
                        return g_bytes_new(text, strlen(text));
        }
        return NULL;
}

GPtrArray *kube_data_keys(Kube *kube, const YamlNode *map) {
        GPtrArray *keys = g_ptr_array_new();

        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                const GPtrArray *items = kube_map(kube, map, fields[i]);

                for (guint j = 0; j < items->len; j++) {
                        const char *key = ((const YamlNode *) items->pdata[j])->key;

                        if (!g_ptr_array_find_with_equal_func(keys, key, g_str_equal, NULL))
                                g_ptr_array_add(keys, (void *) key);
                }
        }
        return keys;
}

const YamlNode *kube_data_find(Kube *kube, const YamlNode *map, const char *field, bool is_secret) {
        const char *name = kube_text(kube, map, field);
        const YamlNode *found = name ? g_hash_table_lookup(is_secret ? kube->secrets : kube->config_maps, name) :
                                       NULL;

        if (!name)
                kube_error(kube, map, "%s is missing", field);
        else if (!found && !kube_flag(kube, map, "optional", false))
                kube_error(kube, yaml_node_get(map, field),
                           "'%s': no file of Yaml=%s has a %s of this name: name the file that has it there, too",
                           name, is_secret ? "" : " or ConfigMap=", is_secret ? "Secret" : "ConfigMap");
        return found;
}
