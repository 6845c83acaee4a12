/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/host-entry.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "hub:10.0.0.1", "10.0.0.1\thub\n" },
        { "hub;hub.car;h_1:10.0.0.1", "10.0.0.1\thub hub.car h_1\n" },
        { "hub:::1", "::1\thub\n" },
        { "hub:fe80::1:2", "fe80::1:2\thub\n" },
        { "hub:host-gateway,me;us:host-gateway", "host-gateway\thub\nhost-gateway\tme us\n" },
        { "a:1.2.3.4,b;c:::2", "1.2.3.4\ta\n::2\tb c\n" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "NAME[;NAME...]:ADDRESS" },
        { "hub", KT_ERROR_USAGE, "NAME[;NAME...]:ADDRESS" },
        { ":10.0.0.1", KT_ERROR_USAGE, "NAME[;NAME...]:ADDRESS" },
        { "hub:", KT_ERROR_USAGE, "'' is no address" },
        { "hub:10.0.0", KT_ERROR_USAGE, "'10.0.0' is no address" },
        { "hub:[::1]", KT_ERROR_USAGE, "'[::1]' is no address" },
        { "hub:10.0.0.1,", KT_ERROR_USAGE, "NAME[;NAME...]:ADDRESS" },
        { "hub;:10.0.0.1", KT_ERROR_USAGE, "'' is no name" },
        { "hub\n1.1.1.1 bank:10.0.0.1", KT_ERROR_USAGE, "no name" },
        { "hub #:10.0.0.1", KT_ERROR_USAGE, "'hub #' is no name" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(GString) lines = g_string_new(NULL);
        bool parsed = host_entry_append(lines, value, error);

        return parsed ? g_strdup(lines->str) : NULL;
}

PARSE_TESTS(parse)

TEST_MAIN("host-entry", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
