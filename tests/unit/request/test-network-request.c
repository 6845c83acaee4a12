/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/base/parse-tests.h"
#include "tests/unit/request/network-format.h"

static const GoodValue good[] = {
        { "bridge", "bridge" },
        { "bridge:", "bridge" },
        { "web", "web" },
        { "web,data", "web data" },
        { "bridge:ip=10.88.0.7", "bridge:ip=10.88.0.7" },
        { "web:ip=10.1.0.7,ip6=FD00::7,mac=92-D0-C6-0A-29-33,alias=www,alias=shop.car,interface_name=net0",
          "web:ip=10.1.0.7,ip6=fd00::7,mac=92:d0:c6:0a:29:33,alias=www,alias=shop.car,interface_name=net0" },
        { "web:ip=fd00::7", "web:ip6=fd00::7" },
        { "a.b_c-d", "a.b_c-d" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "network is empty" },
        { ":ip=10.0.0.1", KT_ERROR_USAGE, "network is empty" },
        { "web,", KT_ERROR_USAGE, "'' is no name of a network" },
        { "../../etc/x", KT_ERROR_USAGE, "no name of a network" },
        { ".hidden", KT_ERROR_USAGE, "no name of a network" },
        { "a\nb", KT_ERROR_USAGE, "no name of a network" },
        { "host", KT_ERROR_UNSUPPORTED, "'host'" },
        { "pasta:-T,80", KT_ERROR_UNSUPPORTED, "'pasta'" },
        { "ns:/run/x", KT_ERROR_UNSUPPORTED, "'ns'" },
        { "web:ip=10.0.0", KT_ERROR_USAGE, "'10.0.0' is no address" },
        { "web:ip=", KT_ERROR_USAGE, "'' is no address" },
        { "web:mac=92:d0:c6:0a:29", KT_ERROR_USAGE, "92:d0:c6:0a:29:33" },
        { "web:mac=92:d0:c6:0a-29-33", KT_ERROR_USAGE, "no hardware address" },
        { "web:mac=93:d0:c6:0a:29:33", KT_ERROR_USAGE, "group" },
        { "web:alias=", KT_ERROR_USAGE, "'' is no name" },
        { "web:alias=a\n10.0.0.1 b", KT_ERROR_USAGE, "no name of a host" },
        { "web:alias=-a", KT_ERROR_USAGE, "no name of a host" },
        { "web:interface_name=sixteen-letters-", KT_ERROR_USAGE, "no name of an interface" },
        { "web:interface_name=lo", KT_ERROR_USAGE, "loopback" },
        { "web:interface_name=a/b", KT_ERROR_USAGE, "no name of an interface" },
        { "web:mtu=1", KT_ERROR_USAGE, "'mtu=1': there are the options" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

        if (!network_request_parse(value, requests, error))
                return NULL;
        for (guint i = 0; i < requests->len; i++)
                g_ptr_array_add(texts, format_network(requests->pdata[i]));
        g_ptr_array_add(texts, NULL);
        return g_strjoinv(" ", (char **) texts->pdata);
}

PARSE_TESTS(parse)

TEST_MAIN("network-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
