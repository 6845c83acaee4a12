/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* An address of IPv4 or IPv6, most significant byte first. */
typedef struct IpAddress {
        int family;      /* AF_INET or AF_INET6 */
        guint8 byte[16]; /* the first 4 of IPv4; the others are 0 */
} IpAddress;

/* An address and how many of its first bits count. */
typedef struct IpPrefix {
        IpAddress address;
        guint length;
} IpPrefix;

/* Number of bits: 32 or 128. */
guint ip_address_bits(const IpAddress *address);

/* Without brackets and without a zone. As in podman's language, an IPv4 address in an IPv6 one is one of IPv4. False:
 * it is none. */
bool ip_address_parse(const char *text, IpAddress *ret);

/* As inet_ntop(3) writes it. Transfer full. */
char *ip_address_format(const IpAddress *address);

/* IPv4 before IPv6, then by value. */
int ip_address_compare(const IpAddress *a, const IpAddress *b);

/* Fails with KT_ERROR_USAGE. "ADDRESS/LENGTH"; the bits behind the length become 0 where `masked`, and stay
 * otherwise. */
bool ip_prefix_parse(const char *text, bool masked, IpPrefix *ret, GError **error);

/* The same, masked, of a network: one that has no addresses but its own and, of IPv4, the broadcast's is refused. */
bool ip_prefix_parse_subnet(const char *text, IpPrefix *ret, GError **error);

/* Transfer full. */
char *ip_prefix_format(const IpPrefix *prefix);

bool ip_prefix_contains(const IpPrefix *prefix, const IpAddress *address);

/* Whether one is in the other. */
bool ip_prefix_overlaps(const IpPrefix *a, const IpPrefix *b);

/* The first address and, which is IPv4's broadcast, the last. */
IpAddress ip_prefix_first(const IpPrefix *prefix);
IpAddress ip_prefix_last(const IpPrefix *prefix);

/* By `step`, which is 1 or -1. False, where there is none. */
bool ip_address_step(IpAddress *address, int step);
