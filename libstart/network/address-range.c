/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/error.h"
#include "libstart/network/address-range.h"

#define MAX_TRIES (1U << 20)

bool address_range_of_subnet(const IpPrefix *subnet, AddressRange *ret) {
        *ret = (AddressRange) { ip_prefix_first(subnet), ip_prefix_last(subnet) };
        return ip_address_step(&ret->first, 1) && (ret->last.family != AF_INET || ip_address_step(&ret->last, -1)) &&
               ip_address_compare(&ret->first, &ret->last) <= 0 && ip_prefix_contains(subnet, &ret->first);
}

bool address_range_contains(const AddressRange *range, const IpAddress *address) {
        return address->family == range->first.family && ip_address_compare(&range->first, address) <= 0 &&
               ip_address_compare(address, &range->last) <= 0;
}

/* How many there are, up to a maximum. */
static guint32 count(const AddressRange *range, guint32 max) {
        guint bytes = ip_address_bits(&range->first) / 8;
        guint64 number = 0;

        for (guint i = 0; i < bytes; i++) {
                gint64 difference = (gint64) number * 256 + range->last.byte[i] - range->first.byte[i];

                number = (guint64) CLAMP(difference, 0, (gint64) 1 << 40);
        }
        return (guint32) MIN(number + 1, max);
}

static IpAddress add(IpAddress address, guint32 number) {
        guint64 carry = number;

        for (guint i = ip_address_bits(&address) / 8; i-- > 0 && carry > 0;) {
                carry += address.byte[i];
                address.byte[i] = (guint8) carry;
                carry >>= 8;
        }
        return address;
}

/* (a + b) / 2, rounded down. */
static IpAddress find_middle(const IpAddress *a, const IpAddress *b) {
        guint bytes = ip_address_bits(a) / 8;
        IpAddress middle = { .family = a->family };
        guint sum[16], carry = 0;

        for (guint i = bytes; i-- > 0; carry = sum[i] >> 8)
                sum[i] = a->byte[i] + b->byte[i] + carry;
        for (guint i = 0; i < bytes; i++) {
                middle.byte[i] = (guint8) ((sum[i] & 0xff) >> 1 | carry << 7);
                carry = sum[i] & 1;
        }
        return middle;
}

bool address_range_halve(const AddressRange *range, AddressRange *ret_lower, AddressRange *ret_upper) {
        AddressRange lower = *range, upper = *range;
        guint end = ip_address_bits(&range->first) / 8 - 1;

        if (count(range, 4) < 4)
                return false;
        lower.last = upper.first = find_middle(&range->first, &range->last);
        if ((range->first.byte[end] ^ range->last.byte[end]) & 1) /* an even number of them */
                ip_address_step(&upper.first, 1);
        else
                ip_address_step(&lower.last, -1);
        *ret_lower = lower;
        *ret_upper = upper;
        return true;
}

char *address_range_format(const AddressRange *range) {
        g_autofree char *first = ip_address_format(&range->first), *last = ip_address_format(&range->last);

        return g_strdup_printf("%s-%s", first, last);
}

bool address_range_parse(const char *text, AddressRange *ret, GError **error) {
        g_auto(GStrv) ends = g_strsplit(text, "-", 2);
        IpPrefix subnet;

        if (strchr(text, '/'))
                return ip_prefix_parse(text, true, &subnet, error) &&
                       (address_range_of_subnet(&subnet, ret) ||
                        error_set(error, KT_ERROR_USAGE, "'%s' has no addresses for containers", text));
        if (g_strv_length(ends) == 2 && ip_address_parse(ends[0], &ret->first) &&
            ip_address_parse(ends[1], &ret->last) && ret->first.family == ret->last.family &&
            ip_address_compare(&ret->first, &ret->last) <= 0)
                return true;
        return error_set(error, KT_ERROR_USAGE,
                         "'%s' is no range of addresses: the form is FIRST-LAST, or ADDRESS/LENGTH", text);
}

/* The first 32 bits of a digest: any function would do that spreads names and stays what it is. */
static guint32 find_place(const char *name) {
        g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);
        guint64 number = 0;

        digest[8] = '\0';
        (void) g_ascii_string_to_unsigned(digest, 16, 0, G_MAXUINT32, &number, NULL);
        return (guint32) number;
}

bool address_range_choose(const AddressRange *range, const char *name, AddressTaken taken, const void *data,
                          IpAddress *ret) {
        guint32 number = count(range, MAX_TRIES), place = find_place(name) % number;

        for (guint32 i = 0; i < number; i++) {
                *ret = add(range->first, (place + i) % number);
                if (!taken(ret, data))
                        return true;
        }
        return false;
}
