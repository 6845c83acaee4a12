/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/string-order.h"
#include "libstart/config/small-file.h"
#include "libstart/network/network-files.h"

#define SUFFIX ".json"

static char *path_in(const char *directory, const char *name) {
        g_autofree char *file = g_strconcat(name, SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}

/* *ret: transfer full; NULL: there is none. */
static bool find_in(const char *directory, const char *name, char **ret, GError **error) {
        g_autofree char *path = path_in(directory, name);
        bool found = access(path, F_OK) == 0;

        if (!found && errno != ENOENT && errno != ENOTDIR)
                return error_set_errno(error, errno, "Cannot look for '%s'", path);
        *ret = found ? g_steal_pointer(&path) : NULL;
        return true;
}

static bool find_path(const NetworkConf *conf, const char *name, char **ret, GError **error) {
        return find_in(conf->config_dir, name, ret, error) &&
               (*ret ||
                (find_in(PATH_NETWORKS, name, ret, error) && (!*ret || directory_check_owner(PATH_NETWORKS, error))));
}

static bool is_blank(const char *text, size_t length) {
        while (length > 0 && text[length - 1] == '\0')
                length--;
        return length == 0;
}

/* Both are NULL where there is no file. Podman writes one without a rename(2): a power cut leaves nothing in it,
 * or zeros, and Podman then makes the network anew, too. Not so the default one, which nobody describes but that
 * file. */
static bool read_text(const NetworkConf *conf, const char *name, char **ret_path, char **ret_text, size_t *ret_length,
                      GError **error) {
        if (!find_path(conf, name, ret_path, error) ||
            (*ret_path && !file_read(*ret_path, ret_text, ret_length, error)))
                return false;
        if (*ret_text && is_blank(*ret_text, *ret_length) && !g_str_equal(name, conf->default_network)) {
                log_warning("'%s' is taken for none: it is empty, as a power cut may have left it", *ret_path);
                g_clear_pointer(ret_path, g_free);
                g_clear_pointer(ret_text, g_free);
        }
        return true;
}

bool network_files_has(const NetworkConf *conf, const char *name, bool *ret, GError **error) {
        g_autofree char *path = NULL, *text = NULL;
        size_t length = 0;
        bool known = read_text(conf, name, &path, &text, &length, error);

        *ret = path;
        return known;
}

static NetworkDefinition *parse(const NetworkConf *conf, const char *name, const char *path, const char *text,
                                size_t length, GError **error) {
        if (!path && g_str_equal(name, conf->default_network))
                return network_definition_default(name, conf->default_subnet, error);
        if (!text)
                return error_null(error, KT_ERROR_NO_NETWORK,
                                  "There is no network '%s': write %s.network, or make it with podman network create",
                                  name, name);
        return network_definition_parse(text, length, name, error) ?: error_prefix_null(error, "'%s': ", path);
}

NetworkDefinition *network_files_find(const NetworkConf *conf, const char *name, GError **error) {
        g_autofree char *path = NULL, *text = NULL;
        size_t length = 0;

        return read_text(conf, name, &path, &text, &length, error) ? parse(conf, name, path, text, length, error) :
                                                                     NULL;
}

/* As Podman says of those that are no networks. */
static bool is_file(const char *directory, const char *file) {
        g_autofree char *path = g_build_filename(directory, file, NULL);
        struct stat st;
        int r = stat(path, &st);

        if (r < 0 ? errno != ELOOP : S_ISREG(st.st_mode))
                return true;
        log_warning("A network is not considered: '%s' is no file", path);
        return false;
}

static bool list_directory(const char *directory, GPtrArray *names, GError **error) {
        g_auto(GStrv) files = directory_list(directory, error);

        for (char **file = files; file && *file; file++) {
                g_autofree char *name = g_strndup(*file, strlen(*file) - MIN(strlen(*file), strlen(SUFFIX)));

                if (g_str_has_suffix(*file, SUFFIX) && *name && is_file(directory, *file) &&
                    !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                        g_ptr_array_add(names, g_steal_pointer(&name));
        }
        return files;
}

GPtrArray *network_files_list(const NetworkConf *conf, GError **error) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        if (!list_directory(conf->config_dir, names, error) || !list_directory(PATH_NETWORKS, names, error))
                return NULL;
        if (!g_ptr_array_find_with_equal_func(names, conf->default_network, g_str_equal, NULL))
                g_ptr_array_add(names, g_strdup(conf->default_network));
        g_ptr_array_sort(names, string_order);
        return g_steal_pointer(&names);
}

GPtrArray *network_files_read_all(const NetworkConf *conf, GError **error) {
        g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify) network_definition_free);
        g_autoptr(GPtrArray) names = network_files_list(conf, error);

        for (guint i = 0; names && i < names->len; i++) {
                g_autofree char *path = NULL, *text = NULL;
                g_autoptr(GError) problem = NULL;
                NetworkDefinition *definition;
                size_t length = 0;

                if (!read_text(conf, names->pdata[i], &path, &text, &length, error))
                        return NULL;
                definition = parse(conf, names->pdata[i], path, text, length, &problem);
                if (definition)
                        g_ptr_array_add(all, definition);
                else
                        log_warning("A network is not considered: %s", problem->message);
        }
        return names ? g_steal_pointer(&all) : NULL;
}

static const guint8 *find_bytes(const struct sockaddr *address) {
        return address->sa_family == AF_INET ?
                       (const guint8 *) &((const struct sockaddr_in *) (const void *) address)->sin_addr :
                       ((const struct sockaddr_in6 *) (const void *) address)->sin6_addr.s6_addr;
}

static void add_live(GArray *used, const struct ifaddrs *interface) {
        const struct sockaddr *address = interface->ifa_addr, *mask = interface->ifa_netmask;
        IpPrefix prefix = { 0 };
        guint n;

        if (!address || !mask || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
                return;
        prefix.address.family = address->sa_family;
        n = ip_address_bits(&prefix.address) / 8;
        memcpy(prefix.address.byte, find_bytes(address), n);
        for (guint i = 0; i < n; i++)
                prefix.length += (guint) __builtin_popcount(find_bytes(mask)[i]);
        g_array_append_val(used, prefix);
}

GArray *network_files_used_subnets(const GPtrArray *all, GError **error) {
        g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(IpPrefix));
        struct ifaddrs *interfaces = NULL;

        for (guint i = 0; i < all->len; i++) {
                const NetworkDefinition *definition = all->pdata[i];

                for (guint j = 0; j < definition->subnets->len; j++)
                        g_array_append_val(used, g_array_index(definition->subnets, NetworkSubnet, j).prefix);
        }
        if (getifaddrs(&interfaces) < 0)
                return error_null_errno(error, errno, "Cannot list the machine's addresses");
        for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next)
                add_live(used, i);
        freeifaddrs(interfaces);
        return g_steal_pointer(&used);
}

static bool is_described(const GPtrArray *all, const char *interface) {
        for (guint i = 0; i < all->len; i++)
                if (g_str_equal(((const NetworkDefinition *) all->pdata[i])->interface, interface))
                        return true;
        return false;
}

char *network_files_free_interface(const GPtrArray *all, GError **error) {
        for (guint i = 1;; i++) {
                g_autofree char *name = g_strdup_printf("podman%u", i);

                if (is_described(all, name) || if_nametoindex(name) != 0)
                        continue;
                if (errno == ENODEV)
                        return g_steal_pointer(&name);
                /* Not by its errno: where there is no socket to ask by, the C library says ENOENT. */
                return error_null(error, KT_ERROR_FAILED, "Cannot tell whether the machine has an interface '%s'",
                                  name);
        }
}

static bool write_in(const char *directory, const char *name, const char *text, GError **error) {
        g_autofree char *file = g_strconcat(name, SUFFIX, NULL);

        return directory_make(directory, 0755, error) && directory_write_file(directory, file, text, 0644, error);
}

bool network_files_write(const NetworkConf *conf, const NetworkDefinition *definition, GError **error) {
        g_autofree char *text = network_definition_format(definition), *own = NULL;
        g_autoptr(GError) problem = NULL;

        if (!find_in(PATH_NETWORKS, definition->name, &own, error))
                return false;
        if (!own && write_in(conf->config_dir, definition->name, text, &problem))
                return true;
        if (problem)
                log_notice("The network '%s' is described in '%s', where Podman does not see it: %s",
                           definition->name, PATH_NETWORKS, problem->message);
        return directory_make_kept(PATH_NETWORKS, 0755, error) &&
               write_in(PATH_NETWORKS, definition->name, text, error);
}

static bool remove_in(const char *directory, const char *name, GError **error) {
        g_autofree char *path = NULL;

        return find_in(directory, name, &path, error) && (!path || unlink(path) == 0 || errno == ENOENT ||
                                                          error_set_errno(error, errno, "Cannot remove '%s'", path));
}

bool network_files_remove(const NetworkConf *conf, const char *name, GError **error) {
        return remove_in(conf->config_dir, name, error) && remove_in(PATH_NETWORKS, name, error);
}
