/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/random.h>
#include <sys/socket.h>

#include "libstart/network/subnet-pool.h"

bool subnet_is_free(const IpPrefix *subnet, const GArray *used) {
        for (guint i = 0; i < used->len; i++)
                if (ip_prefix_overlaps(subnet, &g_array_index(used, IpPrefix, i)))
                        return false;
        return true;
}

bool subnet_choose_ipv4(const GArray *used, IpPrefix *ret) {
        *ret = (IpPrefix) { .address = { .family = AF_INET, .byte = { 10 } }, .length = 24 };
        for (guint second = 89; second < 256; second++)
                for (guint third = 0; third < 256; third++) {
                        ret->address.byte[1] = (guint8) second;
                        ret->address.byte[2] = (guint8) third;
                        if (subnet_is_free(ret, used))
                                return true;
                }
        return false;
}

bool subnet_choose_ipv6(const GArray *used, IpPrefix *ret) {
        for (int tries = 0; tries < 1000; tries++) {
                *ret = (IpPrefix) { .address = { .family = AF_INET6, .byte = { 0xfd } }, .length = 64 };
                if (getrandom(ret->address.byte + 1, 7, 0) == 7 && subnet_is_free(ret, used))
                        return true;
        }
        return false;
}
