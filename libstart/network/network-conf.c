/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/config/conf-value.h"
#include "libstart/network/definition.h"
#include "libstart/network/network-conf.h"
#include "libstart/network/subnet-pool.h"

void network_conf_clear(NetworkConf *conf) {
        g_clear_pointer(&conf->config_dir, g_free);
        g_clear_pointer(&conf->default_network, g_free);
        g_clear_pointer(&conf->default_subnet, g_free);
        g_clear_pointer(&conf->firewall_driver, g_free);
        g_clear_pointer(&conf->helpers, g_ptr_array_unref);
        g_clear_pointer(&conf->pasta_options, g_ptr_array_unref);
        g_clear_pointer(&conf->pools, g_array_unref);
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

static bool is_number(const TomlValue *value, guint64 max, guint64 *ret) {
        return value && value->type == TOML_OTHER && g_ascii_string_to_unsigned(value->string, 10, 0, max, ret, NULL);
}

static bool read_port(const TomlValue *table, const char *path, guint *ret, GError **error) {
        const TomlValue *value = toml_get(table, "dns_bind_port");
        guint64 port = *ret;

        if (value && !is_number(value, G_MAXUINT16, &port))
                return error_set(error, KT_ERROR_FAILED, "%s:%u: dns_bind_port is no port", path, value->line);
        *ret = (guint) port;
        return true;
}

static bool read_pool(const TomlValue *item, SubnetPool *ret) {
        const TomlValue *base = toml_get(item, "base");
        guint64 length;

        if (!base || base->type != TOML_STRING || !ip_prefix_parse(base->string, true, &ret->base, NULL) ||
            ret->base.address.family != AF_INET || !is_number(toml_get(item, "size"), 32, &length))
                return false;
        ret->length = (guint) length;
        return ret->length >= ret->base.length && ret->length > 0;
}

/* Podman refuses the same. */
static bool read_pools(const TomlValue *table, const char *path, GArray *pools, GError **error) {
        const TomlValue *value = toml_get(table, "default_subnet_pools");
        SubnetPool pool;

        if (!value)
                return true;
        g_array_set_size(pools, 0);
        for (guint i = 0; value->type == TOML_ARRAY && i < value->array->len; i++) {
                if (!read_pool(value->array->pdata[i], &pool))
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "%s:%u: default_subnet_pools: each needs a base of IPv4 and a size, the length "
                                "of the subnets in it: {\"base\" = \"10.89.0.0/16\", \"size\" = 24}",
                                path, value->line);
                g_array_append_val(pools, pool);
        }
        return value->type == TOML_ARRAY ||
               error_set(error, KT_ERROR_FAILED, "%s:%u: default_subnet_pools is no array", path, value->line);
}

static bool read_conf(const char *path, const char *text, size_t length, void *data, GError **error) {
        NetworkConf *conf = data;
        g_autoptr(TomlValue) top = toml_parse(text, length, path, error);
        const TomlValue *network = toml_get(top, "network");

        return top && read_string(network, "network_config_dir", path, &conf->config_dir, error) &&
               read_string(network, "default_network", path, &conf->default_network, error) &&
               read_string(network, "default_subnet", path, &conf->default_subnet, error) &&
               read_string(network, "firewall_driver", path, &conf->firewall_driver, error) &&
               read_port(network, path, &conf->dns_port, error) && read_pools(network, path, conf->pools, error) &&
               read_list(toml_get(top, "engine"), "helper_binaries_dir", path, conf->helpers, error) &&
               read_list(network, "pasta_options", path, conf->pasta_options, error);
}

/* Podman's place: a user's networks lie in her store. */
static char *find_config_dir(void) {
        const char *data = g_getenv("XDG_DATA_HOME"), *home = g_getenv("HOME");
        bool is_said = data && data[0] == '/';

        if (!user_view_is_here() || !(is_said || home))
                return g_strdup("/etc/containers/networks");
        return g_build_filename(is_said ? data : home, is_said ? "" : ".local/share", "containers/storage/networks",
                                NULL);
}

bool network_conf_read(const char *root, NetworkConf *ret, GError **error) {
        static const char *const helpers[] = { "/usr/local/libexec/podman", "/usr/local/lib/podman",
                                               "/usr/libexec/podman", "/usr/lib/podman" };
        NetworkConf conf = {
                .config_dir = find_config_dir(),
                .default_network = g_strdup(DEFAULT_NETWORK),
                .default_subnet = g_strdup(DEFAULT_NETWORK_SUBNET),
                .helpers = g_ptr_array_new_with_free_func(g_free),
                .pasta_options = g_ptr_array_new_with_free_func(g_free),
                .pools = g_array_new(FALSE, FALSE, sizeof(SubnetPool)),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(helpers); i++)
                g_ptr_array_add(conf.helpers, g_strdup(helpers[i]));
        if (!conf_files_read(&conf_containers, root, read_conf, &conf, error)) {
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
