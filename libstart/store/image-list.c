/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/image-list.h"
#include "libstart/store/json.h"

#define BIG_DATA "[].big-data-digests."

static void record_free(gpointer data) {
        ImageRecord *record = data;

        g_free(record->id);
        g_free(record->digest);
        g_free(record->layer);
        g_ptr_array_unref(record->names);
        g_hash_table_unref(record->big_data);
        g_free(record);
}

static bool on_object(const char *path, void *data, GError **error) {
        GPtrArray *list = data;

        if (strcmp(path, "[]") != 0)
                return true;

        ImageRecord *record = g_new0(ImageRecord, 1);
        record->names = g_ptr_array_new_with_free_func(g_free);
        record->big_data = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_ptr_array_add(list, record);
        return true;
}

static void replace(char **field, const char *value) {
        g_free(*field);
        *field = g_strdup(value);
}

static bool on_string(const char *path, const char *value, void *data, GError **error) {
        GPtrArray *list = data;
        ImageRecord *record;

        if (list->len == 0)
                return true;
        record = list->pdata[list->len - 1];
        if (strcmp(path, "[].id") == 0)
                replace(&record->id, value);
        else if (strcmp(path, "[].digest") == 0)
                replace(&record->digest, value);
        else if (strcmp(path, "[].layer") == 0)
                replace(&record->layer, value);
        else if (strcmp(path, "[].names[]") == 0)
                g_ptr_array_add(record->names, g_strdup(value));
        else if (g_str_has_prefix(path, BIG_DATA))
                g_hash_table_replace(record->big_data, g_strdup(path + strlen(BIG_DATA)), g_strdup(value));
        return true;
}

GPtrArray *image_list_parse(const char *text, size_t length, GError **error) {
        static const JsonVisitor visitor = { .object = on_object, .string = on_string };
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(record_free);

        if (!json_visit(text, length, &visitor, list, error))
                return NULL;
        return g_steal_pointer(&list);
}

bool image_record_has_name(const ImageRecord *record, const char *name) {
        return g_ptr_array_find_with_equal_func(record->names, name, g_str_equal, NULL);
}

bool image_record_has_manifest(const ImageRecord *record, const char *digest) {
        GHashTableIter iter;
        gpointer key, value;

        if (g_strcmp0(record->digest, digest) == 0)
                return true;
        g_hash_table_iter_init(&iter, record->big_data);
        while (g_hash_table_iter_next(&iter, &key, &value))
                if (g_str_has_prefix(key, "manifest") && strcmp(value, digest) == 0)
                        return true;
        return false;
}

bool image_record_has_repository(const ImageRecord *record, const char *repository) {
        size_t length = strlen(repository);

        for (unsigned i = 0; i < record->names->len; i++) {
                const char *name = record->names->pdata[i];

                if (strncmp(name, repository, length) == 0 && (name[length] == ':' || name[length] == '@'))
                        return true;
        }
        return false;
}
