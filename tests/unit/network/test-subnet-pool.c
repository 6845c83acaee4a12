/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/network/subnet-pool.h"
#include "tests/unit/test-main.h"

static void use(GArray *used, const char *text) {
        IpPrefix prefix;

        ck_assert(ip_prefix_parse(text, true, &prefix, NULL));
        g_array_append_val(used, prefix);
}

static void expect(const GArray *used, const char *text) {
        IpPrefix prefix;

        ck_assert_int_eq(subnet_choose_ipv4(used, &prefix), text != NULL);
        if (text) {
                g_autofree char *found = ip_prefix_format(&prefix);

                ck_assert_str_eq(found, text);
        }
}

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
        tcase_add_test(tcase, test_ipv6);
})
