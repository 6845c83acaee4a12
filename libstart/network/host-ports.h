/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "libstart/network/lease-table.h"

/* Chooses ports of the machine for mappings that leave it to the kernel, drops mappings that are there twice, and
 * fails where a port is in use: by a program, or by another namespace. Rules of a firewall would take packets from a
 * program without a word. ports: of PortMapping. table: NULL where who binds them is a program itself, and says what
 * is in use. */
bool ports_settle(GArray *ports, const LeaseTable *table, GError **error);

typedef struct SocketAddress {
        struct sockaddr_storage address;
        socklen_t length;
} SocketAddress;

void socket_address_make(const IpAddress *ip, guint16 port, SocketAddress *ret);

/* At which of the machine's addresses it publishes: one, or all of a family, for each. Their number. */
guint ports_list_addresses(const PortMapping *mapping, IpAddress ret[2]);
