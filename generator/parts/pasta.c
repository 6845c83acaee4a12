/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/pasta.h"
#include "libstart/base/error.h"
#include "libstart/request/network-mode.h"
#include "libstart/value/port-mapping.h"
#include "libstart/value/unit-words.h"

#define SYSCTL "/proc/sys/net/ipv4/ip_unprivileged_port_start"
#define FIRST_PORT 1024 /* where the kernel says nothing */

bool pasta_is_of(const Conversion *container) {
        return container->is_users && container->network.made->len > 0 &&
               network_mode_is_pasta(g_array_index(container->network.made, Noted, 0).text);
}

/* Each has a socket for IPv4 and one for IPv6, and connections need some, too (LimitNOFILE= of keyturn-ports@). */
#define PORTS_MAX 2000u

bool pasta_is_beside(const Conversion *container) {
        const char *name = container->source->name;

        return container->is_users && container->network.made->len > 0 && !pasta_is_of(container) &&
               (g_str_has_suffix(name, ".container") || g_str_has_suffix(name, ".pod"));
}

bool pasta_check_options(const char *network, GError **error) {
        static const char *const own[] = { "--netns", "--netns-only", "--userns", "--runas", "--foreground", "-f",
                                           "--pid",   "-P",           "--help",   "-h",      "--version",    NULL };
        const char *colon = strchr(network, ':');
        g_auto(GStrv) options = g_strsplit(colon ? colon + 1 : "", ",", -1);

        for (char **option = options; *option; option++) {
                g_autofree char *name = g_strndup(*option, strcspn(*option, "="));

                if (!name[0])
                        return error_set(error, KT_ERROR_USAGE,
                                         "an option of pasta is empty: pasta:OPTION,OPTION...");
                if (g_strv_contains(own, name))
                        return error_set(error, KT_ERROR_USAGE,
                                         "'%s': where and how pasta runs is not the file's: remove this option",
                                         name);
        }
        return true;
}

/* The manager's, of which the generator is a child, is the namespace that pasta will publish in. */
static guint16 find_first_port(void) {
        g_autofree char *text = NULL;
        guint64 port = FIRST_PORT;

        if (g_file_get_contents(SYSCTL, &text, NULL, NULL))
                g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, G_MAXUINT16, &port, NULL);
        return (guint16) port;
}

void pasta_check_ports(Conversion *container) {
        guint16 first = find_first_port();
        guint n = 0;

        for (guint i = 0; i < container->network.published->len; i++) {
                const Noted *port = &g_array_index(container->network.published, Noted, i);
                PortMapping mapping;

                if (unit_word_is_unexpanded(port->text) || !port_mapping_parse(port->text, &mapping, NULL))
                        continue;
                n += mapping.range;
                if (n > PORTS_MAX && n - mapping.range <= PORTS_MAX && pasta_is_beside(container))
                        conversion_problem(container, port->line,
                                           "'%s': a user's container on bridges publishes at most %u ports",
                                           port->text, PORTS_MAX);
                if (mapping.protocols & PORT_SCTP)
                        conversion_problem(container, port->line,
                                           "'%s': users publish ports of tcp and udp, and not of sctp", port->text);
                if (mapping.host_port && mapping.host_port < first)
                        conversion_problem(container, port->line,
                                           "'%s': users may publish ports from %u on; choose such a one, or have "
                                           "root set net.ipv4.ip_unprivileged_port_start=%u in sysctl.d(5)",
                                           port->text, first, mapping.host_port);
        }
}
