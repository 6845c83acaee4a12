/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/network/address-range.h"
#include "tests/unit/base/parse-tests.h"

/* A range, and its halves. */
static const GoodValue good[] = {
        { "10.0.0.0/24", "10.0.0.1-10.0.0.127 10.0.0.128-10.0.0.254" },
        { "10.0.0.9/28", "10.0.0.1-10.0.0.7 10.0.0.8-10.0.0.14" },
        { "10.0.0.0/29", "10.0.0.1-10.0.0.3 10.0.0.4-10.0.0.6" },
        { "10.0.0.0/30", "10.0.0.1-10.0.0.2 whole" },
        { "10.0.0.10-10.0.0.13", "10.0.0.10-10.0.0.11 10.0.0.12-10.0.0.13" },
        { "10.0.0.10-10.0.0.14", "10.0.0.10-10.0.0.11 10.0.0.12-10.0.0.14" },
        { "10.0.0.255-10.0.1.2", "10.0.0.255-10.0.1.0 10.0.1.1-10.0.1.2" },
        { "10.0.0.7-10.0.0.7", "10.0.0.7-10.0.0.7 whole" },
        { "0.0.0.0-255.255.255.255", "0.0.0.0-127.255.255.255 128.0.0.0-255.255.255.255" },
        { "fd00::/64", "fd00::1-fd00::7fff:ffff:ffff:ffff fd00::8000:0:0:0-fd00::ffff:ffff:ffff:ffff" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "FIRST-LAST" },
        { "10.0.0.1", KT_ERROR_USAGE, "FIRST-LAST" },
        { "10.0.0.2-10.0.0.1", KT_ERROR_USAGE, "FIRST-LAST" },
        { "10.0.0.2-fd00::1", KT_ERROR_USAGE, "FIRST-LAST" },
        { "10.0.0.0/32", KT_ERROR_USAGE, "no addresses" },
        { "10.0.0.0/31", KT_ERROR_USAGE, "no addresses" },
        { "fd00::1/128", KT_ERROR_USAGE, "no addresses" },
        { "10.0.0.0/33", KT_ERROR_USAGE, "no subnet" },
};

static char *parse(const char *value, GError **error) {
        g_autofree char *whole_text = NULL, *lower_text = NULL, *upper_text = NULL;
        AddressRange whole, lower, upper;

        if (!address_range_parse(value, &whole, error))
                return NULL;
        whole_text = address_range_format(&whole);
        if (!address_range_halve(&whole, &lower, &upper))
                return g_strconcat(whole_text, " whole", NULL);
        ck_assert(address_range_contains(&whole, &lower.first) && address_range_contains(&whole, &upper.last));
        ck_assert(!address_range_contains(&lower, &upper.first) && !address_range_contains(&upper, &lower.last));
        lower_text = address_range_format(&lower);
        upper_text = address_range_format(&upper);
        return g_strjoin(" ", lower_text, upper_text, NULL);
}

PARSE_TESTS(parse)

static bool is_taken(const IpAddress *address, const void *data) {
        g_autofree char *text = ip_address_format(address);

        return g_hash_table_contains((GHashTable *) data, text);
}

/* All of them, each once, and then no more; the same for the same name. */
START_TEST(test_choose) {
        g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        AddressRange range;
        IpAddress address, again;

        ck_assert(address_range_parse("10.0.0.250-10.0.1.5", &range, NULL));
        for (int i = 0; i < 12; i++) {
                ck_assert(address_range_choose(&range, "web", is_taken, taken, &address));
                ck_assert(address_range_choose(&range, "web", is_taken, taken, &again));
                ck_assert_int_eq(ip_address_compare(&address, &again), 0);
                ck_assert(address_range_contains(&range, &address));
                ck_assert(g_hash_table_add(taken, ip_address_format(&address)));
        }
        ck_assert(!address_range_choose(&range, "web", is_taken, taken, &address));
}
END_TEST

TEST_MAIN("address-range", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_choose);
})
