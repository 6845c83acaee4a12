/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/ip-address.h"

guint ip_address_bits(const IpAddress *address) {
        return address->family == AF_INET ? 32 : 128;
}

bool ip_address_parse(const char *text, IpAddress *ret) {
        IpAddress address = { .family = AF_INET };
        struct in6_addr v6;

        if (inet_pton(AF_INET, text, address.byte) != 1) {
                if (inet_pton(AF_INET6, text, &v6) != 1)
                        return false;
                if (IN6_IS_ADDR_V4MAPPED(&v6)) {
                        memcpy(address.byte, &v6.s6_addr[12], 4);
                } else {
                        address.family = AF_INET6;
                        memcpy(address.byte, &v6, sizeof v6);
                }
        }
        *ret = address;
        return true;
}

char *ip_address_format(const IpAddress *address) {
        char text[INET6_ADDRSTRLEN];

        return g_strdup(inet_ntop(address->family, address->byte, text, sizeof text));
}

int ip_address_compare(const IpAddress *a, const IpAddress *b) {
        if (a->family != b->family)
                return a->family == AF_INET ? -1 : 1;
        return memcmp(a->byte, b->byte, sizeof a->byte);
}

/* Bits from `first` on become what `value` has: 0 or 0xff. */
static IpAddress fill(IpAddress address, guint first, guint8 value) {
        for (guint bit = first; bit < ip_address_bits(&address); bit++) {
                guint8 mask = (guint8) (0x80 >> bit % 8);

                address.byte[bit / 8] = (guint8) ((address.byte[bit / 8] & ~mask) | (value & mask));
        }
        return address;
}

IpAddress ip_prefix_first(const IpPrefix *prefix) {
        return fill(prefix->address, prefix->length, 0);
}

IpAddress ip_prefix_last(const IpPrefix *prefix) {
        return fill(prefix->address, prefix->length, 0xff);
}

bool ip_prefix_parse(const char *text, bool masked, IpPrefix *ret, GError **error) {
        const char *slash = strchr(text, '/');
        g_autofree char *address = slash ? g_strndup(text, (gsize) (slash - text)) : NULL;
        IpPrefix prefix;
        guint64 length;

        if (!slash || !ip_address_parse(address, &prefix.address) ||
            !g_ascii_string_to_unsigned(slash + 1, 10, 0, ip_address_bits(&prefix.address), &length, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no subnet: the form is ADDRESS/LENGTH, as 10.89.1.0/24", text);
        prefix.length = (guint) length;
        if (masked)
                prefix.address = ip_prefix_first(&prefix);
        *ret = prefix;
        return true;
}

bool ip_prefix_parse_subnet(const char *text, IpPrefix *ret, GError **error) {
        guint longest;

        if (!ip_prefix_parse(text, true, ret, error))
                return false;
        longest = ip_address_bits(&ret->address) - (ret->address.family == AF_INET ? 2 : 1);
        return ret->length <= longest ||
               error_set(error, KT_ERROR_USAGE, "'%s' has no addresses for containers: LENGTH can be %u at most",
                         text, longest);
}

char *ip_prefix_format(const IpPrefix *prefix) {
        g_autofree char *address = ip_address_format(&prefix->address);

        return g_strdup_printf("%s/%u", address, prefix->length);
}

bool ip_prefix_contains(const IpPrefix *prefix, const IpAddress *address) {
        IpAddress wanted = ip_prefix_first(prefix), its;

        if (address->family != prefix->address.family)
                return false;
        its = fill(*address, prefix->length, 0);
        return ip_address_compare(&wanted, &its) == 0;
}

bool ip_prefix_overlaps(const IpPrefix *a, const IpPrefix *b) {
        return ip_prefix_contains(a, &b->address) || ip_prefix_contains(b, &a->address);
}

bool ip_address_step(IpAddress *address, int step) {
        for (guint i = ip_address_bits(address) / 8; i-- > 0;) {
                address->byte[i] = (guint8) (address->byte[i] + step);
                if (address->byte[i] != (step > 0 ? 0 : 0xff))
                        return true;
        }
        return false;
}
