/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/store-conf.h"
#include "libstart/config/conf-files.h"
#include "libstart/store/store-settings.h"

static const ConfFiles storage_conf = { .name = "storage", .environment = "CONTAINERS_STORAGE_CONF" };

void store_conf_free(StoreConf *conf) {
        if (!conf)
                return;
        g_free(conf->root);
        g_strfreev(conf->stores);
        g_free(conf);
}

static bool apply_file(const char *path, const char *text, size_t length, void *data, GError **error) {
        return store_settings_apply(data, text, length, path, error);
}

StoreConf *store_conf_load(const char *root, GError **error) {
        g_autoptr(StoreConf) conf = g_new0(StoreConf, 1);
        g_autoptr(StoreSettings) settings = store_settings_new();

        conf->root = g_strdup(root);
        if (!conf_files_read(&storage_conf, root, apply_file, settings, error))
                return NULL;

        conf->stores = store_settings_stores(settings, &conf->n_writable);
        for (char **store = conf->stores; *root && *store; store++) {
                char *path = g_strconcat(root, *store, NULL);

                g_free(*store);
                *store = path;
        }
        return g_steal_pointer(&conf);
}
