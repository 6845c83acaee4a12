/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/network/network-files.h"

#define SUFFIX ".json"

static char *path_in(const char *directory, const char *name) {
        g_autofree char *file = g_strconcat(name, SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}

/* Transfer full; NULL: there is none. */
static char *find_path(const NetworkConf *conf, const char *name) {
        g_autofree char *path = path_in(conf->config_dir, name);

        if (access(path, F_OK) == 0)
                return g_steal_pointer(&path);
        g_free(path);
        path = path_in(PATH_NETWORKS, name);
        return access(path, F_OK) == 0 ? g_steal_pointer(&path) : NULL;
}

bool network_files_has(const NetworkConf *conf, const char *name) {
        g_autofree char *path = find_path(conf, name);

        return path != NULL;
}

NetworkDefinition *network_files_find(const NetworkConf *conf, const char *name, GError **error) {
        g_autofree char *path = find_path(conf, name), *text = NULL;
        NetworkDefinition *definition;
        size_t length = 0;

        if (!path && g_str_equal(name, conf->default_network))
                return network_definition_default(name, conf->default_subnet, error);
        if (path && !file_read(path, &text, &length, error))
                return NULL;
        if (!text) {
                error_set(error, KT_ERROR_NOT_FOUND,
                          "There is no network '%s': write %s.network, or make it with podman network create", name,
                          name);
                return NULL;
        }
        definition = network_definition_parse(text, length, name, error);
        if (!definition)
                g_prefix_error(error, "'%s': ", path);
        return definition;
}

static void list_directory(const char *directory, GPtrArray *names) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *file;

        while (dir && (file = g_dir_read_name(dir))) {
                g_autofree char *name = g_strndup(file, strlen(file) - MIN(strlen(file), strlen(SUFFIX)));

                if (g_str_has_suffix(file, SUFFIX) && *name &&
                    !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                        g_ptr_array_add(names, g_steal_pointer(&name));
        }
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

GPtrArray *network_files_list(const NetworkConf *conf) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

        list_directory(conf->config_dir, names);
        list_directory(PATH_NETWORKS, names);
        if (!g_ptr_array_find_with_equal_func(names, conf->default_network, g_str_equal, NULL))
                g_ptr_array_add(names, g_strdup(conf->default_network));
        g_ptr_array_sort(names, compare_names);
        return names;
}

/* Of each network that can be read; of the others Podman says the same. Array of NetworkDefinition. */
static GPtrArray *read_all(const NetworkConf *conf) {
        GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify) network_definition_free);
        g_autoptr(GPtrArray) names = network_files_list(conf);

        for (guint i = 0; i < names->len; i++) {
                g_autoptr(GError) problem = NULL;
                NetworkDefinition *definition = network_files_find(conf, names->pdata[i], &problem);

                if (definition)
                        g_ptr_array_add(all, definition);
                else
                        log_warning("A network is not considered: %s", problem->message);
        }
        return all;
}

static guint count_bits(const struct sockaddr *mask) {
        const guint8 *byte = mask->sa_family == AF_INET ?
                                     (const guint8 *) &((const struct sockaddr_in *) (const void *) mask)->sin_addr :
                                     ((const struct sockaddr_in6 *) (const void *) mask)->sin6_addr.s6_addr;
        guint bits = 0;

        for (size_t i = 0; i < (mask->sa_family == AF_INET ? 4 : 16); i++)
                bits += (guint) __builtin_popcount(byte[i]);
        return bits;
}

static void add_live(GArray *used, const struct ifaddrs *interface) {
        const struct sockaddr *address = interface->ifa_addr, *mask = interface->ifa_netmask;
        IpPrefix prefix = { 0 };

        if (!address || !mask || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
                return;
        prefix.address.family = address->sa_family;
        if (address->sa_family == AF_INET)
                memcpy(prefix.address.byte, &((const struct sockaddr_in *) (const void *) address)->sin_addr, 4);
        else
                memcpy(prefix.address.byte, &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr, 16);
        prefix.length = count_bits(mask);
        g_array_append_val(used, prefix);
}

GArray *network_files_used_subnets(const NetworkConf *conf) {
        GArray *used = g_array_new(FALSE, FALSE, sizeof(IpPrefix));
        g_autoptr(GPtrArray) all = read_all(conf);
        struct ifaddrs *interfaces = NULL;

        for (guint i = 0; i < all->len; i++) {
                const NetworkDefinition *definition = all->pdata[i];

                for (guint j = 0; j < definition->subnets->len; j++)
                        g_array_append_val(used, g_array_index(definition->subnets, NetworkSubnet, j).prefix);
        }
        if (getifaddrs(&interfaces) == 0) {
                for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next)
                        add_live(used, i);
                freeifaddrs(interfaces);
        }
        return used;
}

static bool is_used(const GPtrArray *all, const char *interface) {
        for (guint i = 0; i < all->len; i++)
                if (g_str_equal(((const NetworkDefinition *) all->pdata[i])->interface, interface))
                        return true;
        return if_nametoindex(interface) != 0;
}

char *network_files_free_interface(const NetworkConf *conf) {
        g_autoptr(GPtrArray) all = read_all(conf);

        for (guint i = 1;; i++) {
                g_autofree char *name = g_strdup_printf("podman%u", i);

                if (!is_used(all, name))
                        return g_steal_pointer(&name);
        }
}

/* As a whole, also if the power fails. */
static bool write_in(const char *directory, const char *name, const char *text, GError **error) {
        g_autofree char *path = path_in(directory, name);

        if (!directory_make(directory, 0755, error))
                return false;
        return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                        0644, error);
}

bool network_files_write(const NetworkConf *conf, const NetworkDefinition *definition, GError **error) {
        g_autofree char *text = network_definition_format(definition);
        g_autofree char *own = path_in(PATH_NETWORKS, definition->name);
        g_autoptr(GError) problem = NULL;

        if (access(own, F_OK) != 0 && write_in(conf->config_dir, definition->name, text, &problem))
                return true;
        if (problem)
                log_notice("The network '%s' is described in '%s', where Podman does not see it: %s",
                           definition->name, PATH_NETWORKS, problem->message);
        return write_in(PATH_NETWORKS, definition->name, text, error);
}

bool network_files_remove(const NetworkConf *conf, const char *name, GError **error) {
        g_autofree char *path = find_path(conf, name);

        return !path || unlink(path) == 0 || errno == ENOENT ||
               error_set_errno(error, errno, "Cannot remove '%s'", path);
}
