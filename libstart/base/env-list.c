/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/env-list.h"
#include "libstart/base/error.h"

static bool is_for_systemd(const char *entry) {
        return strpbrk(entry, "%$") || entry[0] == '\0';
}

GString *env_list_take(GPtrArray *env) {
        GString *list = g_string_sized_new(env->len * 32);
        guint kept = 0;

        for (guint i = 0; i < env->len; i++) {
                char *entry = env->pdata[i];

                if (is_for_systemd(entry)) {
                        g_string_append_c(list, '\0');
                        env->pdata[i] = env->pdata[kept];
                        env->pdata[kept++] = entry;
                } else {
                        g_string_append_len(list, entry, (gssize) strlen(entry) + 1);
                }
        }
        g_ptr_array_set_size(env, (int) kept);
        return list;
}

bool env_list_merge(const char *data, gsize length, GPtrArray *env, GError **error) {
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
        guint next = 0, places = 0;

        if (length > 0 && data[length - 1] != '\0')
                return error_set(error, KT_ERROR_FAILED, "it is cut off");
        for (const char *entry = data; entry < data + length; entry += strlen(entry) + 1) {
                if (*entry)
                        g_ptr_array_add(all, g_strdup(entry));
                else if (places++ < env->len)
                        g_ptr_array_add(all, g_strdup(env->pdata[next++]));
        }
        if (places != env->len)
                return error_set(error, KT_ERROR_FAILED, "it does not fit the other words: systemctl daemon-reload");
        g_ptr_array_set_size(env, 0);
        g_ptr_array_extend_and_steal(env, g_steal_pointer(&all));
        return true;
}

bool env_list_read(const char *path, GPtrArray *env, GError **error) {
        g_autofree char *data = NULL;
        gsize length;

        for (int tries = 0;; tries++) {
                g_autoptr(GError) problem = NULL;

                if (g_file_get_contents(path, &data, &length, &problem))
                        break;
                if (tries == 200 || !g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
                        g_propagate_prefixed_error(error, g_steal_pointer(&problem), "The container's environment: ");
                        return false;
                }
                g_usleep(10 * G_TIME_SPAN_MILLISECOND);
        }
        if (env_list_merge(data, length, env, error))
                return true;
        g_prefix_error(error, "'%s': ", path);
        return false;
}
