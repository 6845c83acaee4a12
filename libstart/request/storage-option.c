/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/storage-option.h"
#include "libstart/value/size.h"

#define SIZE_MIN (64U * 1024U)
#define INODES_MIN 64

static bool parse_percent(const char *value, guint *ret, GError **error) {
        g_autofree char *number = g_strndup(value, strlen(value) - 1);
        guint64 n;

        if (!g_ascii_string_to_unsigned(number, 10, 1, 100, &n, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no percentage of the machine's memory from 1%% to 100%%", value);
        *ret = (guint) n;
        return true;
}

static bool parse_size(const char *value, StorageLimits *limits, GError **error) {
        guint64 size = 0;
        guint percent = 0;

        if (!(g_str_has_suffix(value, "%") ? parse_percent(value, &percent, error) : size_parse(value, &size, error)))
                return false;
        if (percent == 0 && size < SIZE_MIN)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s' is too small for a writable layer, which needs 64k at least and is never without a "
                        "limit, as it is memory; 100%% is all of the machine's",
                        value);
        limits->size = size;
        limits->percent = percent;
        return true;
}

static bool parse_inodes(const char *value, StorageLimits *limits, GError **error) {
        return g_ascii_string_to_unsigned(value, 10, INODES_MIN, G_MAXINT64, &limits->inodes, NULL) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is no number of inodes: a writable layer needs %d at least, and is never without a "
                         "limit",
                         value, INODES_MIN);
}

/* podman takes the name of the driver in front. */
bool storage_option_parse_stores(const char *value, GPtrArray **stores, bool *ret, GError **error) {
        static const char name[] = "additionalimagestore=", driver[] = "overlay.";
        const char *bare = g_str_has_prefix(value, driver) ? value + strlen(driver) : value;
        g_auto(GStrv) paths = NULL;

        *ret = g_str_has_prefix(bare, name);
        if (!*ret)
                return true;
        paths = g_strsplit(bare + strlen(name), ",", -1);
        for (char **path = paths; *path; path++) {
                if (!**path)
                        continue;
                if (!path_value_check(*path, error))
                        return false;
                if (!*stores)
                        *stores = g_ptr_array_new_with_free_func(g_free);
                g_ptr_array_add(*stores, path_value_clean(*path));
        }
        return true;
}

GPtrArray *storage_option_find_stores(const GPtrArray *values) {
        GPtrArray *stores = NULL;
        bool is_stores;

        for (guint i = 0; i < values->len; i++)
                (void) storage_option_parse_stores(values->pdata[i], &stores, &is_stores, NULL);
        return stores;
}

bool storage_option_parse(const char *value, StorageLimits *limits, GError **error) {
        if (g_str_has_prefix(value, "size="))
                return parse_size(value + strlen("size="), limits, error);
        if (g_str_has_prefix(value, "inodes="))
                return parse_inodes(value + strlen("inodes="), limits, error);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "storage option '%s' is not supported: there are size=SIZE, inodes=NUMBER and "
                         "additionalimagestore=DIRECTORY",
                         value);
}
