/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/config/conf-value.h"
#include "libstart/hook/hook-dirs.h"

static bool read_list(const TomlValue *list, const char *path, GPtrArray *ret, GError **error) {
        g_ptr_array_set_size(ret, 0);
        for (guint i = 0; list->type == TOML_ARRAY && i < list->array->len; i++) {
                const TomlValue *item = list->array->pdata[i];

                if (item->type == TOML_STRING)
                        g_ptr_array_add(ret, g_strdup(item->string));
        }
        return list->type == TOML_ARRAY ||
               error_set(error, KT_ERROR_FAILED, "%s:%u: engine.hooks_dir is no array", path, list->line);
}

static bool read_conf(const char *path, const char *text, size_t length, void *data, GError **error) {
        g_autoptr(TomlValue) top = NULL;
        const TomlValue *list;

        if (!conf_file_mentions(text, length, "hooks_dir"))
                return true;
        top = toml_parse(text, length, path, error);
        if (!top)
                return false;
        list = toml_get(toml_get(top, "engine"), "hooks_dir");
        return !list || read_list(list, path, data, error);
}

/* The same name in a later directory replaces. */
static bool list_one(const char *root, const char *directory, GHashTable *paths, GError **error) {
        g_autofree char *full = g_strconcat(root, directory, NULL);
        g_auto(GStrv) names = directory_list(full, error);

        for (char **name = names; name && *name; name++)
                if (g_str_has_suffix(*name, ".json"))
                        g_hash_table_replace(paths, g_strdup(*name), g_build_filename(directory, *name, NULL));
        return names;
}

static int compare_names(gconstpointer a, gconstpointer b) {
        const char *left = strrchr(*(const char *const *) a, '/') + 1;
        const char *right = strrchr(*(const char *const *) b, '/') + 1;
        int r = g_ascii_strcasecmp(left, right);

        return r ? r : strcmp(left, right);
}

GPtrArray *hook_dirs_list(const char *root, char *const *directories, GError **error) {
        static const char *const defaults[] = { "/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d",
                                                NULL };
        g_autoptr(GPtrArray) configured = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        void *path;

        if (!directories && !conf_files_read(&conf_containers, root, read_conf, configured, error))
                return NULL;
        if (configured->len > 0) {
                g_ptr_array_add(configured, NULL);
                directories = (char *const *) configured->pdata;
        }
        for (const char *const *each = directories ? (const char *const *) directories : defaults; *each; each++)
                if (!list_one(root, *each, paths, error))
                        return NULL;
        g_hash_table_iter_init(&iter, paths);
        while (g_hash_table_iter_next(&iter, NULL, &path))
                g_ptr_array_add(list, path);
        g_ptr_array_sort(list, compare_names);
        return g_steal_pointer(&list);
}
