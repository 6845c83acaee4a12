/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/network-request.h"
#include "libstart/value/names.h"

#define MAC_LENGTH 6

void network_request_free(NetworkRequest *request) {
        g_free(request->name);
        g_array_unref(request->addresses);
        g_free(request->mac);
        g_ptr_array_unref(request->aliases);
        g_free(request->interface_name);
        g_free(request);
}

static NetworkRequest *append(GPtrArray *requests, const char *name) {
        NetworkRequest *request = g_new0(NetworkRequest, 1);

        request->name = g_strdup(name);
        request->addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        request->aliases = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(requests, request);
        return request;
}

static bool add_address(NetworkRequest *request, const char *value, GError **error) {
        IpAddress address;

        if (!ip_address_parse(value, &address))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no address", value);
        g_array_append_val(request->addresses, address);
        return true;
}

/* Two digits each, with one separator between all of them: ':' or '-'. */
static bool set_mac(NetworkRequest *request, const char *value, GError **error) {
        bool ok = strlen(value) == MAC_LENGTH * 3 - 1 && strchr(":-", value[2]);

        for (size_t i = 0; ok && i < MAC_LENGTH * 3 - 1; i++)
                ok = i % 3 == 2 ? value[i] == value[2] : g_ascii_isxdigit(value[i]);
        if (!ok)
                return error_set(error, KT_ERROR_USAGE, "'%s' is no hardware address: the form is 92:d0:c6:0a:29:33",
                                 value);
        if (g_ascii_xdigit_value(value[1]) & 1)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is the hardware address of a group, which no interface can have", value);
        g_free(request->mac);
        request->mac = g_strdelimit(g_ascii_strdown(value, -1), "-", ':');
        return true;
}

/* It becomes a word of aardvark-dns's file and of /etc/hosts. */
static bool add_alias(NetworkRequest *request, const char *value, GError **error) {
        if (value[0] == '-' || strlen(value) > 253 || !name_is_made_of(value, "_.-"))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name of a host: letters, digits, '.', '-' and '_'", value);
        g_ptr_array_add(request->aliases, g_strdup(value));
        return true;
}

static bool set_interface_name(NetworkRequest *request, const char *value, GError **error) {
        if (!name_check_interface(value, error))
                return false;
        g_free(request->interface_name);
        request->interface_name = g_strdup(value);
        return true;
}

static bool read_option(NetworkRequest *request, const char *option, GError **error) {
        static const struct {
                const char *name;
                bool (*read)(NetworkRequest *request, const char *value, GError **error);
        } options[] = {
                { "ip=", add_address },
                { "ip6=", add_address },
                { "mac=", set_mac },
                { "alias=", add_alias },
                { "interface_name=", set_interface_name },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (g_str_has_prefix(option, options[i].name))
                        return options[i].read(request, option + strlen(options[i].name), error);
        return error_set(error, KT_ERROR_USAGE,
                         "'%s': there are the options ip=, ip6=, mac=, alias= and interface_name=", option);
}

static bool read_options(NetworkRequest *request, const char *text, GError **error) {
        g_auto(GStrv) options = g_strsplit(text, ",", -1);

        for (char **option = options; *option; option++)
                if (!read_option(request, *option, error))
                        return false;
        return true;
}

/* Words that mean something else than a network of that name. */
static bool check_name(const char *name, GError **error) {
        static const char *const others[] = { "host",        "none", "ns",      "container", "pasta",
                                              "slirp4netns", "pod",  "default", "private",   NULL };

        if (g_strv_contains(others, name))
                return error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is no network that others could be beside", name);
        return name_check_network(name, error);
}

bool network_request_parse(const char *value, GPtrArray *requests, GError **error) {
        const char *colon = strchr(value, ':');
        g_autofree char *names = colon ? g_strndup(value, (gsize) (colon - value)) : g_strdup(value);
        g_auto(GStrv) all = g_strsplit(names, ",", colon ? 1 : -1);
        NetworkRequest *request = NULL;

        if (!names[0])
                return error_set(error, KT_ERROR_USAGE, "The network is empty: write bridge, or a network's name");
        for (char **name = all; *name; name++) {
                bool is_default = g_str_equal(*name, "bridge");

                if (!is_default && !check_name(*name, error))
                        return false;
                request = append(requests, is_default ? NULL : *name);
        }
        return !request || !colon || !colon[1] || read_options(request, colon + 1, error);
}
