/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/published-ports.h"

/* Containers have the host's network or none, so that nobody stands between a program and the ports it listens on. A
 * port that is published as it is means the same there, and is dropped. But whoever writes 127.0.0.1:8080:80 counts on
 * nobody else's reaching the program, which would now listen on all addresses: such a file must choose its network
 * itself. */

/* FIRST[-LAST]. Digits only, which is also what Podman takes. */
static bool parse_range(const char *text, guint64 *ret_first, guint64 *ret_last) {
        g_auto(GStrv) ends = g_strsplit(text, "-", 2);

        if (!ends[0] || !g_ascii_string_to_unsigned(ends[0], 10, 1, G_MAXUINT16, ret_first, NULL))
                return false;
        *ret_last = *ret_first;
        return !ends[1] || g_ascii_string_to_unsigned(ends[1], 10, *ret_first, G_MAXUINT16, ret_last, NULL);
}

/* HOST:CONTAINER[/PROTOCOL], with no address and with the same ports on both sides. An empty host port, a port of 0 and
 * a container's port alone leave the choice to Podman. */
static bool is_same_port(const char *value) {
        g_autofree char *ports = g_strndup(value, strcspn(value, "/"));
        g_auto(GStrv) sides = g_strsplit(ports, ":", -1);
        guint64 host_first, host_last, first, last;

        return g_strv_length(sides) == 2 && parse_range(sides[0], &host_first, &host_last) &&
               parse_range(sides[1], &first, &last) && host_first == first && host_last == last;
}

void published_ports_check(Container *container) {
        const char *network = container->args->network;

        for (guint i = 0; network && i < container->published->len; i++) {
                const UnitLine *line = container->published->pdata[i];

                if (container->has_network || is_same_port(line->value))
                        container_warning(container, line, "'%s' does nothing with Network=%s, ignoring", line->value,
                                          network);
                else
                        container_problem(
                                container, line,
                                "'%s' needs a bridge, which keyturn does not make: write Network=host, and "
                                "configure the program to listen on the address and port that others are to "
                                "reach it at (with Network=host, PublishPort= does nothing)",
                                line->value);
        }
}
