/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/lease-table.h"

/* Chooses ports of the machine for mappings that leave it to the kernel, drops mappings that are there twice, and
 * fails where a port is in use: by a program, or by another namespace. Rules of a firewall would take packets from a
 * program without a word. ports: of PortMapping. */
bool ports_settle(GArray *ports, const LeaseTable *table, GError **error);
