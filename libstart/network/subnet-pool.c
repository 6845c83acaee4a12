/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "libstart/network/subnet-pool.h"

bool subnet_is_free(const IpPrefix *subnet, const GArray *used) {
        for (guint i = 0; i < used->len; i++)
                if (ip_prefix_overlaps(subnet, &g_array_index(used, IpPrefix, i)))
                        return false;
        return true;
}

static bool choose_of(const SubnetPool *pool, const GArray *used, IpPrefix *ret) {
        guint64 n = G_GUINT64_CONSTANT(1) << (pool->length - pool->base.length);
        guint64 step = G_GUINT64_CONSTANT(1) << (32 - pool->length);
        guint32 first, address;

        memcpy(&first, pool->base.address.byte, sizeof first);
        first = GUINT32_FROM_BE(first);
        for (guint64 i = 0; i < n; i++) {
                *ret = (IpPrefix) { .address = { .family = AF_INET }, .length = pool->length };
                address = GUINT32_TO_BE(first + (guint32) (i * step));
                memcpy(ret->address.byte, &address, sizeof address);
                if (subnet_is_free(ret, used))
                        return true;
        }
        return false;
}

bool subnet_choose_ipv4(const GArray *pools, const GArray *used, IpPrefix *ret) {
        static const SubnetPool podmans[] = {
                { { .address = { .family = AF_INET, .byte = { 10, 89 } }, .length = 16 }, 24 },
                { { .address = { .family = AF_INET, .byte = { 10, 90 } }, .length = 15 }, 24 },
                { { .address = { .family = AF_INET, .byte = { 10, 92 } }, .length = 14 }, 24 },
                { { .address = { .family = AF_INET, .byte = { 10, 96 } }, .length = 11 }, 24 },
                { { .address = { .family = AF_INET, .byte = { 10, 128 } }, .length = 9 }, 24 },
        };
        const SubnetPool *all = pools->len > 0 ? (const SubnetPool *) (const void *) pools->data : podmans;
        size_t n = pools->len > 0 ? pools->len : G_N_ELEMENTS(podmans);

        for (size_t i = 0; i < n; i++)
                if (choose_of(&all[i], used, ret))
                        return true;
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
