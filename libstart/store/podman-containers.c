/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/podman-containers.h"
#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/store/manifest.h"

#define MAX_DEPTH 16

static bool is_called(yajl_val record, const char *name) {
        yajl_val names = json_member(record, "names", yajl_t_array);

        for (size_t i = 0; names && i < names->u.array.len; i++)
                if (g_strcmp0(YAJL_GET_STRING(names->u.array.values[i]), name) == 0)
                        return true;
        return g_str_equal(json_member_string(record, "id"), name);
}

bool podman_container_parse(const char *text, size_t length, const char *name, char **ret, GError **error) {
        g_auto(yajl_val) list = length > 0 ? json_parse(text, length, MAX_DEPTH, error) : NULL;

        *ret = NULL;
        for (size_t i = 0; list && YAJL_IS_ARRAY(list) && i < list->u.array.len; i++) {
                yajl_val record = list->u.array.values[i];

                if (!YAJL_IS_OBJECT(record) || !is_called(record, name))
                        continue;
                if (!id_is_valid(json_member_string(record, "id"))) /* it becomes a part of a path */
                        return error_set(error, KT_ERROR_FAILED, "the id of '%s' is none", name);
                *ret = g_strdup(json_member_string(record, "id"));
                return true;
        }
        return list || length == 0;
}

static bool find_in(const char *store, const char *name, char **ret, GError **error) {
        static const char *const lists[] = { "overlay-containers/containers.json",
                                             "overlay-containers/volatile-containers.json" };

        for (size_t i = 0; i < G_N_ELEMENTS(lists) && !*ret; i++) {
                g_autofree char *path = g_build_filename(store, lists[i], NULL), *text = NULL;
                size_t length = 0;

                if (!file_read(path, &text, &length, error))
                        return false;
                if (text && !podman_container_parse(text, length, name, ret, error))
                        return error_prefix(error, "'%s': ", path);
        }
        return true;
}

bool podman_container_find(const StoreConf *conf, const char *name, char **ret, GError **error) {
        g_autofree char *run_root = store_conf_run_root(conf);

        *ret = NULL;
        for (unsigned store = 0; store < conf->n_writable; store++)
                if (!find_in(conf->stores[store], name, ret, error))
                        return false;
        return find_in(run_root, name, ret, error);
}
