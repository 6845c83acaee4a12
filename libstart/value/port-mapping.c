/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/ip-address.h"
#include "libstart/value/port-mapping.h"

#define FORM "the form is [[ADDRESS:][PORT]:]PORT[/PROTOCOL], an address of IPv6 in brackets"

static const struct {
        const char *name;
        PortProtocols flag;
} protocols[] = {
        { "tcp", PORT_TCP },
        { "udp", PORT_UDP },
        { "sctp", PORT_SCTP },
        { "", PORT_TCP }, /* behind a comma that is too many, as podman has it */
};

static bool read_protocols(const char *text, PortProtocols *ret, GError **error) {
        g_auto(GStrv) names = g_strsplit(text, ",", -1);

        if (!*text)
                return error_set(error, KT_ERROR_USAGE, "The protocol behind '/' is missing: tcp, udp or sctp");
        for (char **name = names; *name; name++) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(protocols) && g_ascii_strcasecmp(*name, protocols[i].name) != 0)
                        i++;
                if (i == G_N_ELEMENTS(protocols))
                        return error_set(error, KT_ERROR_USAGE, "'%s' is no protocol: tcp, udp or sctp", *name);
                *ret |= protocols[i].flag;
        }
        return true;
}

static bool read_range(const char *text, guint16 *ret_first, guint16 *ret_number, GError **error) {
        g_auto(GStrv) ends = g_strsplit(text, "-", 2);
        guint64 first = 0, last = 0;
        bool ok = ends[0] && g_ascii_string_to_unsigned(ends[0], 10, 1, G_MAXUINT16, &first, NULL);

        last = first;
        if (ok && ends[1])
                ok = g_ascii_string_to_unsigned(ends[1], 10, first + 1, G_MAXUINT16, &last, NULL);
        if (!ok)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s' is no port, nor a range of them: numbers from 1 to 65535, the smaller one first", text);
        *ret_first = (guint16) first;
        *ret_number = (guint16) (last - first + 1);
        return true;
}

static bool read_address(const char *text, PortMapping *ret, GError **error) {
        g_autofree char *clean = NULL;
        IpAddress address;

        if (!ip_address_parse(text, &address))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no address of this machine: " FORM, text);
        clean = ip_address_format(&address);
        if (!g_str_equal(clean, "0.0.0.0"))
                g_strlcpy(ret->host_ip, clean, sizeof ret->host_ip);
        return true;
}

/* host: NULL or empty: the kernel chooses. */
static bool read_ports(const char *host, const char *container, PortMapping *ret, GError **error) {
        guint16 number;

        if (!read_range(container, &ret->container_port, &ret->range, error))
                return false;
        if (!host || !*host)
                return true;
        if (!read_range(host, &ret->host_port, &number, error))
                return false;
        return number == ret->range ||
               error_set(error, KT_ERROR_USAGE, "'%s' and '%s' are ranges of different lengths", host, container);
}

/* [ADDRESS:][PORT:]PORT, what is in brackets being an address. */
static bool read_mapping(char *text, PortMapping *ret, GError **error) {
        char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
        g_auto(GStrv) parts = NULL;
        guint n;

        if (text[0] == '[') {
                if (!bracket || bracket[1] != ':')
                        return error_set(error, KT_ERROR_USAGE, "'%s': " FORM, text);
                *bracket = '\0';
                if (!read_address(text + 1, ret, error))
                        return false;
                text = bracket + 2;
        }
        parts = g_strsplit(text, ":", -1);
        n = g_strv_length(parts);
        if (n == 0 || n > (bracket ? 2 : 3) || (bracket && n < 2))
                return error_set(error, KT_ERROR_USAGE, "'%s': " FORM, text);
        if (n == 3 && !read_address(parts[0], ret, error))
                return false;
        return read_ports(n > 1 ? parts[n - 2] : NULL, parts[n - 1], ret, error);
}

bool port_mapping_parse(const char *value, PortMapping *ret, GError **error) {
        const char *slash = strchr(value, '/');
        g_autofree char *text = slash ? g_strndup(value, (gsize) (slash - value)) : g_strdup(value);
        PortMapping mapping = { .protocols = slash ? 0 : PORT_TCP };

        if (!read_mapping(text, &mapping, error) || (slash && !read_protocols(slash + 1, &mapping.protocols, error)))
                return false;
        *ret = mapping;
        return true;
}

static void append_range(GString *text, guint16 first, guint16 range) {
        g_string_append_printf(text, range > 1 ? "%u-%u" : "%u", first, first + range - 1u);
}

char *port_mapping_format(const PortMapping *mapping) {
        GString *text = g_string_new(NULL);
        char separator = '/';

        if (mapping->host_ip[0])
                g_string_append_printf(text, strchr(mapping->host_ip, ':') ? "[%s]:" : "%s:", mapping->host_ip);
        if (mapping->host_port)
                append_range(text, mapping->host_port, mapping->range);
        g_string_append_c(text, ':');
        append_range(text, mapping->container_port, mapping->range);
        for (size_t i = 0; i < 3; i++)
                if (mapping->protocols & protocols[i].flag) {
                        g_string_append_printf(text, "%c%s", separator, protocols[i].name);
                        separator = ',';
                }
        return g_string_free(text, FALSE);
}

bool port_mapping_conflicts(const PortMapping *a, const PortMapping *b) {
        if (!(a->protocols & b->protocols) || !a->host_port || !b->host_port || !g_str_equal(a->host_ip, b->host_ip))
                return false;
        return a->host_port < b->host_port + b->range && b->host_port < a->host_port + a->range &&
               a->container_port - a->host_port != b->container_port - b->host_port;
}
