/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/network/subnet-pool.h"
#include "tests/unit/test-main.h"

static void use(GArray *used, const char *text) {
        IpPrefix prefix;

        ck_assert(ip_prefix_parse(text, true, &prefix, NULL));
        g_array_append_val(used, prefix);
}

static GArray *no_pools(void) {
        return g_array_new(FALSE, FALSE, sizeof(SubnetPool));
}

static void expect_of(const GArray *pools, const GArray *used, const char *text) {
        IpPrefix prefix;

        ck_assert_int_eq(subnet_choose_ipv4(pools, used, &prefix), text != NULL);
        if (text) {
                g_autofree char *found = ip_prefix_format(&prefix);

                ck_assert_str_eq(found, text);
        }
}

static void expect(const GArray *used, const char *text) {
        g_autoptr(GArray) pools = no_pools();

        expect_of(pools, used, text);
}

START_TEST(test_pools) {
        g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(IpPrefix)), pools = no_pools();
        SubnetPool pool = { .length = 27 };

        ck_assert(ip_prefix_parse("192.168.255.192/26", true, &pool.base, NULL));
        g_array_append_val(pools, pool);
        ck_assert(ip_prefix_parse("172.20.0.0/16", true, &pool.base, NULL));
        pool.length = 16;
        g_array_append_val(pools, pool);
        expect_of(pools, used, "192.168.255.192/27");
        use(used, "192.168.255.193/32");
        expect_of(pools, used, "192.168.255.224/27");
        use(used, "192.168.255.255/32");
        expect_of(pools, used, "172.20.0.0/16");
        use(used, "172.20.255.0/24");
        expect_of(pools, used, NULL);
}
END_TEST

START_TEST(test_ipv4) {
        g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(IpPrefix));

        expect(used, "10.89.0.0/24");
        use(used, "fd00::/8");
        use(used, "10.89.0.128/25");
        expect(used, "10.89.1.0/24");
        use(used, "10.89.1.7/32");
        use(used, "10.89.2.0/23");
        expect(used, "10.89.4.0/24");
        use(used, "10.89.0.0/16");
        expect(used, "10.90.0.0/24");
        use(used, "10.90.0.0/15");
        use(used, "10.92.0.0/14");
        use(used, "10.96.0.0/11");
        expect(used, "10.128.0.0/24");
        use(used, "10.0.0.0/8");
        expect(used, NULL);
}
END_TEST

START_TEST(test_ipv6) {
        g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(IpPrefix));
        IpPrefix one, other;

        ck_assert(subnet_choose_ipv6(used, &one) && subnet_choose_ipv6(used, &other));
        ck_assert_uint_eq(one.length, 64);
        ck_assert_uint_eq(one.address.byte[0], 0xfd);
        ck_assert(!ip_prefix_overlaps(&one, &other));
        use(used, "fd00::/8");
        ck_assert(!subnet_choose_ipv6(used, &one));
}
END_TEST

TEST_MAIN("subnet-pool", {
        tcase_add_test(tcase, test_ipv4);
        tcase_add_test(tcase, test_pools);
        tcase_add_test(tcase, test_ipv6);
})
