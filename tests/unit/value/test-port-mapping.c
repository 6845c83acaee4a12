/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/port-mapping.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "80", ":80/tcp" },
        { "8080:80", "8080:80/tcp" },
        { "127.0.0.1:8080:80", "127.0.0.1:8080:80/tcp" },
        { "127.0.0.1::80", "127.0.0.1::80/tcp" },
        { "0.0.0.0:8080:80", "8080:80/tcp" },
        { "[::1]:8080:80", "[::1]:8080:80/tcp" },
        { "[::]:8080:80/udp", "[::]:8080:80/udp" },
        { "[::1]::80", "[::1]::80/tcp" },
        { "8080-8089:80-89/udp", "8080-8089:80-89/udp" },
        { "80-89", ":80-89/tcp" },
        { "53:53/UDP,tcp", "53:53/tcp,udp" },
        { "53:53/udp,", "53:53/tcp,udp" },
        { "1:65535/sctp", "1:65535/sctp" },
        { ":80", ":80/tcp" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "the form is" },
        { "0", KT_ERROR_USAGE, "'0' is no port" },
        { "65536:80", KT_ERROR_USAGE, "'65536' is no port" },
        { "80:", KT_ERROR_USAGE, "'' is no port" },
        { "89-80", KT_ERROR_USAGE, "'89-80'" },
        { "80-", KT_ERROR_USAGE, "'80-'" },
        { "80-80", KT_ERROR_USAGE, "'80-80'" },
        { "80-81-82", KT_ERROR_USAGE, "'80-81-82'" },
        { "8080-8081:80", KT_ERROR_USAGE, "different lengths" },
        { "8080:80/", KT_ERROR_USAGE, "protocol behind '/'" },
        { "8080:80/http", KT_ERROR_USAGE, "'http' is no protocol" },
        { "8080:80/tcp/udp", KT_ERROR_USAGE, "'tcp/udp' is no protocol" },
        { ":8080:80", KT_ERROR_USAGE, "'' is no address" },
        { "::80", KT_ERROR_USAGE, "'' is no address" },
        { "localhost:8080:80", KT_ERROR_USAGE, "'localhost' is no address" },
        { "::1:8080:80", KT_ERROR_USAGE, "in brackets" },
        { "[::1]80", KT_ERROR_USAGE, "in brackets" },
        { "[::1]:80", KT_ERROR_USAGE, "the form is" },
        { "[::1:80:80", KT_ERROR_USAGE, "in brackets" },
        { "[fe80::1%eth0]:80:80", KT_ERROR_USAGE, "no address" },
        { "+80:80", KT_ERROR_USAGE, "'+80' is no port" },
};

static char *parse(const char *value, GError **error) {
        PortMapping mapping, again;
        g_autofree char *text = NULL, *same = NULL;

        if (!port_mapping_parse(value, &mapping, error))
                return NULL;
        text = port_mapping_format(&mapping);
        ck_assert_msg(port_mapping_parse(text, &again, NULL), "%s", text);
        same = port_mapping_format(&again);
        ck_assert_str_eq(text, same);
        return g_steal_pointer(&text);
}

PARSE_TESTS(parse)

START_TEST(test_conflicts) {
        static const struct {
                const char *a, *b;
                bool conflict;
        } pairs[] = {
                { "80:80", "80:81", true },         { "80:80", "80:80", false },
                { "80:80", "81:80", false },        { "80:80", "80:81/udp", false },
                { "80:80", "80:81/udp,tcp", true }, { "127.0.0.1:80:80", "[::1]:80:81", false },
                { "80-89:80-89", "85:85", false },  { "80-89:80-89", "85:86", true },
                { "80-89:80-89", "90:1", false },   { ":80", ":81", false },
        };
        PortMapping a, b;

        ck_assert(port_mapping_parse(pairs[_i].a, &a, NULL) && port_mapping_parse(pairs[_i].b, &b, NULL));
        ck_assert_int_eq(port_mapping_conflicts(&a, &b), pairs[_i].conflict);
        ck_assert_int_eq(port_mapping_conflicts(&b, &a), pairs[_i].conflict);
}
END_TEST

TEST_MAIN("port-mapping", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_conflicts, 0, 10);
})
