/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/store/used-ids.h"

#define MAX_DEPTH 16

static bool find_number(yajl_val object, const char *key, guint32 *ret) {
        yajl_val value = json_member(object, key, yajl_t_number);

        if (!value || !YAJL_IS_INTEGER(value) || YAJL_GET_INTEGER(value) < 0 || YAJL_GET_INTEGER(value) > G_MAXUINT32)
                return false;
        *ret = (guint32) YAJL_GET_INTEGER(value);
        return true;
}

/* Is the user's own id in the map? */
static bool has_own(yajl_val map) {
        for (size_t i = 0; i < map->u.array.len; i++) {
                guint32 first;

                if (YAJL_IS_OBJECT(map->u.array.values[i]) &&
                    find_number(map->u.array.values[i], "host_id", &first) && first == 0)
                        return true;
        }
        return false;
}

static bool add_map(yajl_val record, const char *key, bool is_users, GArray *ranges, GError **error) {
        yajl_val map = json_member(record, key, yajl_t_array);

        if (map && is_users && has_own(map))
                return true;
        for (size_t i = 0; map && i < map->u.array.len; i++) {
                yajl_val extent = map->u.array.values[i];
                IdRange range;

                if (!YAJL_IS_OBJECT(extent) || !find_number(extent, "host_id", &range.first) ||
                    !find_number(extent, "size", &range.count))
                        return error_set(error, KT_ERROR_FAILED, "'%s' of a record is not understood", key);
                if (range.first > 0) /* else it was not given out: every id is itself */
                        g_array_append_val(ranges, range);
        }
        return true;
}

bool used_ids_parse(const char *text, size_t length, bool is_users, GArray *uids, GArray *gids, GError **error) {
        g_auto(yajl_val) list = length > 0 ? json_parse(text, length, MAX_DEPTH, error) : NULL;

        if (length > 0 && !list)
                return false;
        for (size_t i = 0; list && YAJL_IS_ARRAY(list) && i < list->u.array.len; i++) {
                yajl_val record = list->u.array.values[i];

                if (YAJL_IS_OBJECT(record) && (!add_map(record, "uidmap", is_users, uids, error) ||
                                               !add_map(record, "gidmap", is_users, gids, error)))
                        return false;
        }
        return true;
}

static bool read_list(const char *directory, const char *name, bool is_users, GArray *uids, GArray *gids,
                      GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, error))
                return false;
        if (text && !used_ids_parse(text, length, is_users, uids, gids, error))
                return error_prefix(error, "'%s': ", path);
        return true;
}

bool used_ids_read(const StoreConf *conf, bool is_users, GArray *uids, GArray *gids, GError **error) {
        static const char *const names[] = { "overlay-containers/containers.json",
                                             "overlay-containers/volatile-containers.json",
                                             "overlay-layers/layers.json", "overlay-layers/volatile-layers.json" };
        g_autofree char *run_root = store_conf_run_root(conf);

        for (size_t i = 0; i < G_N_ELEMENTS(names) / (is_users ? 2 : 1); i++) {
                for (unsigned store = 0; store < conf->n_writable; store++)
                        if (!read_list(conf->stores[store], names[i], is_users, uids, gids, error))
                                return false;
                if (!read_list(run_root, names[i], is_users, uids, gids, error))
                        return false;
        }
        return true;
}

static guint32 behind_largest(yajl_val record, const char *key, guint32 so_far) {
        yajl_val ids = json_member(record, key, yajl_t_array);

        for (size_t i = 0; ids && i < ids->u.array.len; i++) {
                yajl_val id = ids->u.array.values[i];

                if (YAJL_IS_INTEGER(id) && YAJL_GET_INTEGER(id) >= so_far && YAJL_GET_INTEGER(id) < G_MAXUINT32)
                        so_far = (guint32) YAJL_GET_INTEGER(id) + 1;
        }
        return so_far;
}

/* The lists are read once for each store. Layers are STORE/overlay/ID/diff. */
static bool add_store(const char *store, char *const *layers, guint32 *behind, GError **error) {
        g_autofree char *path = g_build_filename(store, "overlay-layers/layers.json", NULL), *text = NULL;
        size_t length = 0;

        if (!file_read(path, &text, &length, error))
                return false;
        g_auto(yajl_val) list = length > 0 ? json_parse(text, length, MAX_DEPTH, error) : NULL;
        if (length > 0 && !list)
                return error_prefix(error, "'%s': ", path);
        for (size_t i = 0; list && YAJL_IS_ARRAY(list) && i < list->u.array.len; i++) {
                yajl_val record = list->u.array.values[i], id = json_member(record, "id", yajl_t_string);
                g_autofree char *diff = id ? g_build_filename(store, "overlay", YAJL_GET_STRING(id), "diff", NULL) :
                                             NULL;

                if (diff && g_strv_contains((const char *const *) layers, diff))
                        *behind = behind_largest(record, "gidset", behind_largest(record, "uidset", *behind));
        }
        return true;
}

bool used_ids_of_layers(char *const *layers, guint32 *behind, GError **error) {
        g_autoptr(GHashTable) stores = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (size_t i = 0; layers[i]; i++) {
                const char *overlay = g_strrstr(layers[i], "/overlay/");
                g_autofree char *store = overlay ? g_strndup(layers[i], (gsize) (overlay - layers[i])) : NULL;

                if (!store || g_hash_table_contains(stores, store))
                        continue;
                if (!add_store(store, layers, behind, error))
                        return false;
                g_hash_table_add(stores, g_steal_pointer(&store));
        }
        return true;
}
