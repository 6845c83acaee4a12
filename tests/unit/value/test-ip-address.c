/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/ip-address.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "10.89.1.7/24", "10.89.1.0/24 10.89.1.0 10.89.1.255" },
        { "10.89.1.7/32", "10.89.1.7/32 10.89.1.7 10.89.1.7" },
        { "10.89.1.7/0", "0.0.0.0/0 0.0.0.0 255.255.255.255" },
        { "10.89.1.7/21", "10.89.0.0/21 10.89.0.0 10.89.7.255" },
        { "::ffff:10.0.0.1/8", "10.0.0.0/8 10.0.0.0 10.255.255.255" },
        { "FD00:1::7/112", "fd00:1::/112 fd00:1:: fd00:1::ffff" },
        { "fd00::/63", "fd00::/63 fd00:: fd00::1:ffff:ffff:ffff:ffff" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "ADDRESS/LENGTH" },          { "10.0.0.1", KT_ERROR_USAGE, "ADDRESS/LENGTH" },
        { "10.0.0.1/", KT_ERROR_USAGE, "ADDRESS/LENGTH" }, { "10.0.0.1/33", KT_ERROR_USAGE, "ADDRESS/LENGTH" },
        { "10.0.0/8", KT_ERROR_USAGE, "ADDRESS/LENGTH" },  { "fd00::/129", KT_ERROR_USAGE, "ADDRESS/LENGTH" },
        { "/8", KT_ERROR_USAGE, "ADDRESS/LENGTH" },        { "fe80::1%eth0/64", KT_ERROR_USAGE, "ADDRESS/LENGTH" },
};

static char *parse(const char *value, GError **error) {
        g_autofree char *prefix_text = NULL, *first_text = NULL, *last_text = NULL;
        IpAddress first, last;
        IpPrefix prefix;

        if (!ip_prefix_parse(value, true, &prefix, error))
                return NULL;
        first = ip_prefix_first(&prefix);
        last = ip_prefix_last(&prefix);
        prefix_text = ip_prefix_format(&prefix);
        first_text = ip_address_format(&first);
        last_text = ip_address_format(&last);
        return g_strdup_printf("%s %s %s", prefix_text, first_text, last_text);
}

PARSE_TESTS(parse)

START_TEST(test_subnets) {
        static const struct {
                const char *text;
                bool has_addresses;
        } subnets[] = {
                { "10.0.0.0/30", true }, { "10.0.0.0/31", false }, { "10.0.0.0/32", false },
                { "fd00::/127", true },  { "fd00::/128", false },
        };
        g_autoptr(GError) error = NULL;
        IpPrefix prefix;

        ck_assert_int_eq(ip_prefix_parse_subnet(subnets[_i].text, &prefix, &error), subnets[_i].has_addresses);
        ck_assert(subnets[_i].has_addresses || strstr(error->message, "no addresses for containers"));
}
END_TEST

static IpPrefix read_prefix(const char *text) {
        IpPrefix prefix;

        ck_assert(ip_prefix_parse(text, false, &prefix, NULL));
        return prefix;
}

START_TEST(test_overlaps) {
        static const struct {
                const char *a, *b;
                bool overlap;
        } pairs[] = {
                { "10.89.0.0/24", "10.89.0.0/16", true },     { "10.89.0.0/24", "10.89.1.0/24", false },
                { "10.89.0.9/24", "10.89.0.77/32", true },    { "0.0.0.0/0", "fd00::/8", false },
                { "fd00::/64", "fd00::1:0:0:0:0/64", false }, { "fd00::/8", "fd77::/64", true },
        };
        IpPrefix a = read_prefix(pairs[_i].a), b = read_prefix(pairs[_i].b);

        ck_assert_int_eq(ip_prefix_overlaps(&a, &b), pairs[_i].overlap);
        ck_assert_int_eq(ip_prefix_overlaps(&b, &a), pairs[_i].overlap);
}
END_TEST

START_TEST(test_step) {
        static const struct {
                const char *from;
                int step;
                const char *to; /* NULL: nothing is there */
        } steps[] = {
                { "10.0.0.255", 1, "10.0.1.0" }, { "10.0.1.0", -1, "10.0.0.255" }, { "255.255.255.255", 1, NULL },
                { "0.0.0.0", -1, NULL },         { "fd00::ffff", 1, "fd00::1:0" }, { "fd00::1:0", -1, "fd00::ffff" },
        };
        IpAddress address;

        ck_assert(ip_address_parse(steps[_i].from, &address));
        ck_assert_int_eq(ip_address_step(&address, steps[_i].step), steps[_i].to != NULL);
        if (steps[_i].to) {
                g_autofree char *text = ip_address_format(&address);

                ck_assert_str_eq(text, steps[_i].to);
        }
}
END_TEST

TEST_MAIN("ip-address", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_subnets, 0, 5);
        tcase_add_loop_test(tcase, test_overlaps, 0, 6);
        tcase_add_loop_test(tcase, test_step, 0, 6);
})
