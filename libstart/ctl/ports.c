/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/string-prefix.h"
#include "libstart/ctl/ports.h"
#include "libstart/network/namespace-state.h"
#include "libstart/table/table.h"

/* "8080:80/tcp" with an arrow for its last colon. Transfer full. */
static char *format_port(const PortMapping *port) {
        g_autofree char *text = port_mapping_format(port);
        char *colon = strrchr(text, ':');

        *colon = '\0';
        return g_strconcat(text, "->", colon + 1, NULL);
}

char *network_ports(const char *unit) {
        g_autoptr(SetupSummary) setup = NULL;
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        (void) namespace_state_read_summary(unit, &setup, NULL);
        for (guint i = 0; setup && i < setup->ports->len; i++)
                g_ptr_array_add(words, format_port(&g_array_index(setup->ports, PortMapping, i)));
        return table_join((char **) words->pdata, words->len);
}

char *container_ports(const ContainerUnit *container) {
        static const char *const kinds[] = { "pinned:", "owned:", NULL };
        const char *network = container->args->network, *kind = network ? string_prefix(network, kinds) : NULL;

        return kind ? network_ports(network + strlen(kind)) : NULL;
}
