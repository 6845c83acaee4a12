/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/config/conf-value.h"
#include "libstart/base/error.h"

const ConfFiles conf_containers = { "containers", "CONTAINERS_CONF" },
                conf_storage = { "storage", "CONTAINERS_STORAGE_CONF" };

typedef struct Search {
        const char *table, *key;
        TomlType type;
        char *string;
        bool *boolean;
} Search;

static bool take(const TomlValue *value, const char *path, Search *search, GError **error) {
        if (value->type != search->type)
                return error_set(error, KT_ERROR_FAILED, "%s:%u: %s.%s is no %s", path, value->line, search->table,
                                 search->key, search->type == TOML_STRING ? "string" : "boolean");
        if (value->type == TOML_STRING) {
                g_free(search->string);
                search->string = g_strdup(value->string);
        } else
                *search->boolean = value->boolean;
        return true;
}

static bool read_file(const char *path, const char *text, size_t length, void *data, GError **error) {
        Search *search = data;
        g_autoptr(TomlValue) top = NULL;
        const TomlValue *value;

        if (!conf_file_mentions(text, length, search->key))
                return true;
        top = toml_parse(text, length, path, error);
        if (!top)
                return false;
        value = toml_get(toml_get(top, search->table), search->key);
        return !value || take(value, path, search, error);
}

bool conf_value_read_string(const ConfFiles *files, const char *root, const char *table, const char *key, char **ret,
                            GError **error) {
        Search search = { .table = table, .key = key, .type = TOML_STRING };

        *ret = NULL;
        if (conf_files_read(files, root, read_file, &search, error)) {
                *ret = search.string;
                return true;
        }
        g_free(search.string);
        return false;
}

bool conf_value_read_boolean(const ConfFiles *files, const char *root, const char *table, const char *key, bool *ret,
                             GError **error) {
        Search search = { .table = table, .key = key, .type = TOML_BOOLEAN, .boolean = ret };

        return conf_files_read(files, root, read_file, &search, error);
}
