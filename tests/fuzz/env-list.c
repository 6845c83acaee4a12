/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/value/env-list.h"
#include "tests/fuzz/fuzz.h"

/* What is taken apart can be put together again. */
static void check_take(const GPtrArray *all) {
        g_autoptr(GPtrArray) left = g_ptr_array_new(), again = NULL;
        g_autoptr(GString) list = NULL;

        for (guint i = 0; i < all->len; i++)
                g_ptr_array_add(left, all->pdata[i]);
        list = env_list_take(left);
        again = env_list_merge(list->str, list->len, left, NULL);
        require(again && again->len == all->len, "entries are missing");
        for (guint i = 0; i < all->len; i++)
                require(g_str_equal(all->pdata[i], again->pdata[i]), "'%s' became '%s'", (char *) all->pdata[i],
                        (char *) again->pdata[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(GPtrArray) env = g_ptr_array_new();
        g_autofree char *copy = g_memdup2(data, size);
        g_autoptr(GError) error = NULL;

        g_ptr_array_add(env, (char *) "FIRST=%n");
        g_ptr_array_add(env, (char *) "");
        g_autoptr(GPtrArray) all = env_list_merge(copy ? copy : "", size, env, &error);
        require_error(all, error, "");
        if (all)
                check_take(all);
        return 0;
}
