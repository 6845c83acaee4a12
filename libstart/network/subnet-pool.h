/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/value/ip-address.h"

/* Subnets for networks that name none. */

/* Where they come from: parts of `base` whose length is `length`. */
typedef struct SubnetPool {
        IpPrefix base; /* of IPv4 */
        guint length;
} SubnetPool;

bool subnet_is_free(const IpPrefix *subnet, const GArray *used);

/* The first free one of the pools, in podman's order; without pools, of podman's own: 10.89.0.0/24, 10.89.1.0/24, ...
 * used: array of IpPrefix. Pure. */
bool subnet_choose_ipv4(const GArray *pools, const GArray *used, IpPrefix *ret);

/* A random one of 2^64 addresses in fd00::/8 (RFC 4193). */
bool subnet_choose_ipv6(const GArray *used, IpPrefix *ret);
