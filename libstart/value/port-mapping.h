/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum PortProtocols {
        PORT_TCP = 1 << 0,
        PORT_UDP = 1 << 1,
        PORT_SCTP = 1 << 2,
} PortProtocols;

/* Ports of the machine that lead to a container's. */
typedef struct PortMapping {
        char host_ip[48];       /* as inet_ntop(3) writes it; "": all of the machine's, of IPv4 and IPv6 */
        guint16 host_port;      /* the first; 0: the kernel chooses */
        guint16 container_port; /* the first */
        guint16 range;          /* how many, from 1 */
        PortProtocols protocols;
} PortMapping;

/* podman's --publish: [[IP:][PORT[-PORT]]:]PORT[-PORT][/PROTOCOL[,PROTOCOL]], an address of IPv6 in brackets. 0.0.0.0
 * means all addresses, as it does there. Fails with KT_ERROR_USAGE. */
bool port_mapping_parse(const char *value, PortMapping *ret, GError **error);

/* "127.0.0.1:8080-8081:80-81/tcp". Of what the same is read. Transfer full. */
char *port_mapping_format(const PortMapping *mapping);

/* Whether two lead from one port of the machine to different ones: no container can have both. */
bool port_mapping_conflicts(const PortMapping *a, const PortMapping *b);
