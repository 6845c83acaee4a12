/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/short-names.h"
#include "libstart/base/error.h"
#include "libstart/config/conf-files.h"
#include "libstart/config/small-file.h"
#include "libstart/config/toml.h"

/* Written by podman when root has chosen a registry; stronger than registries.conf. */
#define PATH_CHOSEN_ALIASES "/var/cache/containers/short-name-aliases.conf"

static const ConfFiles registries_conf = { .name = "registries", .environment = "CONTAINERS_REGISTRIES_CONF" };

void short_names_free(ShortNames *names) {
        if (!names)
                return;
        g_hash_table_unref(names->aliases);
        g_strfreev(names->registries);
        g_free(names);
}

static bool fail(const char *path, const TomlValue *value, const char *what, GError **error) {
        return error_set(error, KT_ERROR_FAILED, "%s:%u: %s", path, value->line, what);
}

static bool apply_registries(ShortNames *names, const TomlValue *array, const char *path, GError **error) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        if (array->type != TOML_ARRAY)
                return fail(path, array, "'unqualified-search-registries' must be an array of strings", error);
        for (unsigned i = 0; i < array->array->len; i++) {
                const TomlValue *value = array->array->pdata[i];

                if (value->type != TOML_STRING)
                        return fail(path, value, "'unqualified-search-registries' must be an array of strings",
                                    error);
                g_strv_builder_add(builder, value->string);
        }
        g_strfreev(names->registries);
        names->registries = g_strv_builder_end(builder);
        return true;
}

static bool apply_aliases(ShortNames *names, const TomlValue *aliases, const char *path, GError **error) {
        GHashTableIter iter;
        gpointer key, data;

        if (aliases->type != TOML_TABLE)
                return fail(path, aliases, "'aliases' must be a table", error);
        g_hash_table_iter_init(&iter, aliases->table);
        while (g_hash_table_iter_next(&iter, &key, &data)) {
                const TomlValue *value = data;

                if (value->type != TOML_STRING)
                        return fail(path, value, "an alias must be a string", error);
                if (*value->string)
                        g_hash_table_replace(names->aliases, g_strdup(key), g_strdup(value->string));
                else
                        g_hash_table_remove(names->aliases, key);
        }
        return true;
}

static bool apply_file(const char *path, const char *text, size_t length, void *data, GError **error) {
        g_autoptr(TomlValue) top = toml_parse(text, length, path, error);

        if (!top)
                return false;
        const TomlValue *registries = toml_get(top, "unqualified-search-registries");
        const TomlValue *aliases = toml_get(top, "aliases");
        return (!registries || apply_registries(data, registries, path, error)) &&
               (!aliases || apply_aliases(data, aliases, path, error));
}

static bool read_chosen(ShortNames *names, const char *root, GError **error) {
        g_autofree char *path = g_strconcat(root, PATH_CHOSEN_ALIASES, NULL);
        g_autofree char *text = NULL;
        size_t length;

        if (!file_read(path, &text, &length, error))
                return false;
        return !text || apply_file(path, text, length, names, error);
}

ShortNames *short_names_load(const char *root, GError **error) {
        g_autoptr(ShortNames) names = g_new0(ShortNames, 1);

        names->aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        if (!conf_files_read(&registries_conf, root, apply_file, names, error) || !read_chosen(names, root, error))
                return NULL;
        return g_steal_pointer(&names);
}
