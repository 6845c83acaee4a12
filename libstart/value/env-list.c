/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/env-list.h"
#include "libstart/value/unit-words.h"

static bool is_for_systemd(const char *entry) {
        return unit_word_is_unexpanded(entry) || entry[0] == '\0';
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

GPtrArray *env_list_merge(const char *data, gsize length, const GPtrArray *env, GError **error) {
        g_autoptr(GPtrArray) all = g_ptr_array_sized_new(env->len + (guint) (length / 32));
        guint places = 0;

        if (length > 0 && data[length - 1] != '\0')
                return error_null(error, KT_ERROR_FAILED, "it is cut off");
        for (const char *entry = data; entry < data + length; entry += strlen(entry) + 1) {
                if (*entry)
                        g_ptr_array_add(all, (char *) entry);
                else if (places++ < env->len)
                        g_ptr_array_add(all, env->pdata[places - 1]);
        }
        if (places == env->len)
                return g_steal_pointer(&all);
        return error_null(error, KT_ERROR_FAILED, "it does not fit the other words: systemctl daemon-reload");
}
