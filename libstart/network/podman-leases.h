/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/value/ip-address.h"

/* The addresses that Podman has given out, in its database ipam.db: bbolt's format (go.etcd.io/bbolt), of which this
 * reads what is needed. A bucket of each network has one of each subnet, in which an address, of 4 or 16 bytes, is a
 * key.
 *
 * Appends those of a network to an array of IpAddress. data: a whole database, which Podman must not write meanwhile:
 * it does so under its lock only. False where it cannot be understood. Pure. */
bool podman_leases_read(const guint8 *data, gsize length, const char *network, GArray *addresses);
