/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/value/ip-address.h"

/* Addresses that containers can be given, all of one family: from `first` to `last`. Pure. */
typedef struct AddressRange {
        IpAddress first, last;
} AddressRange;

/* What a subnet has for containers: all but its own address and, of IPv4, the broadcast's. False where nothing is
 * left. */
bool address_range_of_subnet(const IpPrefix *subnet, AddressRange *ret);

bool address_range_contains(const AddressRange *range, const IpAddress *address);

/* Cuts one in two: `upper` has the same number of addresses, or one more. False: there are fewer than four, too few.
 */
bool address_range_halve(const AddressRange *range, AddressRange *ret_lower, AddressRange *ret_upper);

/* "10.89.1.1-10.89.1.127". Transfer full. */
char *address_range_format(const AddressRange *range);

/* That, or a subnet, which has what address_range_of_subnet() says. KT_ERROR_USAGE. */
bool address_range_parse(const char *text, AddressRange *ret, GError **error);

typedef bool (*AddressTaken)(const IpAddress *address, const void *data);

/* One that is not taken. The same for the same name as long as it is free: it begins at a place that the name says.
 * False if there is none among the first million. */
bool address_range_choose(const AddressRange *range, const char *name, AddressTaken taken, const void *data,
                          IpAddress *ret);
