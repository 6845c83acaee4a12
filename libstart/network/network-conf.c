/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/config/conf-files.h"
#include "libstart/config/toml.h"
#include "libstart/network/definition.h"
#include "libstart/network/network-conf.h"

void network_conf_clear(NetworkConf *conf) {
        g_clear_pointer(&conf->config_dir, g_free);
        g_clear_pointer(&conf->default_network, g_free);
        g_clear_pointer(&conf->default_subnet, g_free);
        g_clear_pointer(&conf->firewall_driver, g_free);
        g_clear_pointer(&conf->helpers, g_ptr_array_unref);
        g_clear_pointer(&conf->plugins, g_ptr_array_unref);
}

/* An empty string says what no string says. */
static bool read_string(const TomlValue *table, const char *key, const char *path, char **string, GError **error) {
        const TomlValue *value = toml_get(table, key);

        if (!value)
                return true;
        if (value->type != TOML_STRING)
                return error_set(error, KT_ERROR_FAILED, "%s:%u: %s is no string", path, value->line, key);
        if (*value->string) {
                g_free(*string);
                *string = g_strdup(value->string);
        }
        return true;
}

/* A table in the array, {append=true}, keeps what there is. */
static bool read_list(const TomlValue *table, const char *key, const char *path, GPtrArray *list, GError **error) {
        const TomlValue *value = toml_get(table, key);
        guint kept = 0, old = list->len;

        if (!value)
                return true;
        if (value->type != TOML_ARRAY)
                return error_set(error, KT_ERROR_FAILED, "%s:%u: %s is no array", path, value->line, key);
        for (guint i = 0; i < value->array->len; i++) {
                const TomlValue *item = value->array->pdata[i], *append = toml_get(item, "append");

                if (item->type == TOML_STRING)
                        g_ptr_array_add(list, g_strdup(item->string));
                else if (append && append->type == TOML_BOOLEAN && append->boolean)
                        kept = old;
        }
        if (kept == 0 && old > 0)
                g_ptr_array_remove_range(list, 0, old);
        return true;
}

static bool read_conf(const char *path, const char *text, size_t length, void *data, GError **error) {
        NetworkConf *conf = data;
        g_autoptr(TomlValue) top = toml_parse(text, length, path, error);
        const TomlValue *network = toml_get(top, "network");

        return top && read_string(network, "network_config_dir", path, &conf->config_dir, error) &&
               read_string(network, "default_network", path, &conf->default_network, error) &&
               read_string(network, "default_subnet", path, &conf->default_subnet, error) &&
               read_string(network, "firewall_driver", path, &conf->firewall_driver, error) &&
               read_list(network, "netavark_plugin_dirs", path, conf->plugins, error) &&
               read_list(toml_get(top, "engine"), "helper_binaries_dir", path, conf->helpers, error);
}

static GPtrArray *make_list(const char *const *values) {
        GPtrArray *list = g_ptr_array_new_with_free_func(g_free);

        for (; *values; values++)
                g_ptr_array_add(list, g_strdup(*values));
        return list;
}

bool network_conf_read(const char *root, NetworkConf *ret, GError **error) {
        static const ConfFiles files = { "containers", "CONTAINERS_CONF" };
        static const char *const helpers[] = { "/usr/local/libexec/podman", "/usr/local/lib/podman",
                                               "/usr/libexec/podman", "/usr/lib/podman", NULL };
        static const char *const plugins[] = { "/usr/local/libexec/netavark", "/usr/libexec/netavark",
                                               "/usr/local/lib/netavark", "/usr/lib/netavark", NULL };
        NetworkConf conf = {
                .config_dir = g_strdup("/etc/containers/networks"),
                .default_network = g_strdup(DEFAULT_NETWORK),
                .default_subnet = g_strdup(DEFAULT_NETWORK_SUBNET),
                .helpers = make_list(helpers),
                .plugins = make_list(plugins),
        };

        if (!conf_files_read(&files, root, read_conf, &conf, error)) {
                network_conf_clear(&conf);
                return false;
        }
        *ret = conf;
        return true;
}

char *network_conf_find_helper(const NetworkConf *conf, const char *name) {
        for (guint i = 0; i < conf->helpers->len; i++) {
                g_autofree char *path = g_build_filename(conf->helpers->pdata[i], name, NULL);

                if (path[0] == '/' && access(path, X_OK) == 0)
                        return g_steal_pointer(&path);
        }
        return NULL;
}
