/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/netavark-json.h"
#include "tests/unit/base/parse-tests.h"

#define SETUP                                                                                              \
        "{\"keyturn_unit\": \"web\", \"container_name\": \"shop\", \"container_hostname\": \"shop.car\", " \
        "\"networks\": {\"net1\": {\"static_ips\": [\"10.89.0.5\"]}, \"net2\": {}, \"net3\": {}}, "        \
        "\"network_info\": {\"net1\": {\"driver\": \"bridge\", \"internal\": false}, "                     \
        "\"net2\": {\"driver\": \"bridge\", \"internal\": true}, \"net3\": {\"driver\": \"macvlan\"}}}"
#define BLOCK(name, ip, gateway, dns)                                                                              \
        "\"" name "\": {\"dns_search_domains\": [\"dns.podman\"], \"dns_server_ips\": [" dns "], \"interfaces\": " \
        "{\"eth0\": {\"subnets\": [{\"gateway\": \"" gateway "\", \"ipnet\": \"" ip "\"}]}}}"

#define NET3 ", \"net3\": {}}"

static const GoodValue good[] = {
        { "{" BLOCK("net1", "10.89.0.5/24", "10.89.0.1", "\"10.89.0.1\"") ", " BLOCK("net2", "10.90.0.5/24",
                                                                                     "10.90.0.1", "") NET3,
          "host 10.89.0.5 shop.car shop\nnameserver 10.89.0.1\nsearch dns.podman\nhost 10.90.0.5 shop.car shop\n"
          "gateway 10.89.0.1\n" },
        { "{" BLOCK("net1", "fd00::5/64", "fd00::1", "") ", \"net2\": {}" NET3,
          "host fd00::5 shop.car shop\nsearch dns.podman\ngateway fd00::1\n" },
        { "{\"net1\": {\"interfaces\": {\"eth0\": {\"subnets\": ["
          "{\"ipnet\": \"fd00::5/64\", \"gateway\": \"fd00::1\"}, "
          "{\"ipnet\": \"10.89.0.5/24\", \"gateway\": \"10.89.0.1\"}]}}}, \"net2\": {}" NET3,
          "host fd00::5 shop.car shop\nhost 10.89.0.5 shop.car shop\ngateway 10.89.0.1\n" },
        { "{\"net1\": {}, \"net2\": {}" NET3, "" },
        /* The machine is seen on an internal network, too; a gateway of a macvlan's is another machine. */
        { "{\"net1\": {}, " BLOCK("net2", "10.90.0.5/24", "10.90.0.1", "") NET3,
          "host 10.90.0.5 shop.car shop\nsearch dns.podman\ngateway 10.90.0.1\n" },
        { "{\"net1\": {}, \"net2\": {}, " BLOCK("net3", "10.90.0.5/24", "10.90.0.1", "") "}",
          "host 10.90.0.5 shop.car shop\nsearch dns.podman\n" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "" },
        { "[]", KT_ERROR_FAILED, "nothing about the network 'net1'" },
        { "{\"net1\": {}}", KT_ERROR_FAILED, "nothing about the network 'net2'" },
        { "{" BLOCK("net1", "10.89.0.5\\nhost 1.1.1.1 bank", "10.89.0.1", "") ", \"net2\": {}" NET3, KT_ERROR_FAILED,
          "where an address should be" },
        { "{" BLOCK("net1", "10.89.0.5/24", "x", "") ", \"net2\": {}" NET3, KT_ERROR_FAILED, "says 'x'" },
        { "{" BLOCK("net1", "10.89.0.5/24", "10.89.0.1", "\"1.1.1.1\\nsearch x\"") ", \"net2\": {}" NET3,
          KT_ERROR_FAILED, "where an address should be" },
        { "{\"net1\": {\"dns_search_domains\": [\"a\\nhost 1.1.1.1 bank\"]}, \"net2\": {}}", KT_ERROR_FAILED,
          "where a domain should be" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(SetupSummary) setup = netavark_parse_setup(SETUP, strlen(SETUP), NULL);

        ck_assert(setup);
        return netavark_format_names(value, strlen(value), setup, error);
}

PARSE_TESTS(parse)

/* What is written for netavark is what is read again. */
START_TEST(test_setup) {
        static const char network[] =
                "{\"name\": \"net1\", \"driver\": \"bridge\", \"subnets\": [{\"subnet\": \"10.89.0.0/24\"}]}";
        g_autoptr(GPtrArray) requests = g_ptr_array_new_with_free_func((GDestroyNotify) network_request_free);
        g_autoptr(GPtrArray) attachments = g_ptr_array_new(), dns = g_ptr_array_new();
        g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(PortMapping));
        g_autoptr(SetupSummary) summary = NULL;
        g_autofree char *text = NULL;
        Attachment *attachment = g_new0(Attachment, 1);
        Setup setup = { "web@1", "shop", NULL, attachments, ports, dns };
        IpAddress address;
        PortMapping port;

        ck_assert(network_request_parse("net1:alias=a", requests, NULL) &&
                  ip_address_parse("10.89.0.200", &address) &&
                  port_mapping_parse("127.0.0.1:53-54:153-154/tcp,udp", &port, NULL));
        attachment->definition = network_definition_parse(network, strlen(network), "net1", NULL);
        attachment->request = requests->pdata[0];
        attachment->addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        attachment->interface_name = g_strdup("eth0");
        attachment->mac = g_strdup("02:00:00:00:00:01");
        g_array_append_val(attachment->addresses, address);
        g_ptr_array_add(attachments, attachment);
        g_array_append_val(ports, port);
        text = netavark_format_setup(&setup);
        summary = netavark_parse_setup(text, strlen(text), NULL);
        ck_assert(summary && summary->networks->len == 1 && summary->ports->len == 2);
        ck_assert_str_eq(summary->unit, "web@1");
        ck_assert_str_eq(summary->container_name, "shop");
        ck_assert_str_eq(summary->hostname, "");
        ck_assert_uint_eq(((SummaryNetwork *) summary->networks->pdata[0])->addresses->len, 1);
        ck_assert_uint_eq(g_array_index(summary->ports, PortMapping, 1).protocols, PORT_UDP);
        ck_assert_uint_eq(g_array_index(summary->ports, PortMapping, 1).host_port, 53);
        ck_assert_ptr_nonnull(strstr(text, "\"gateway\": \"10.89.0.1\""));
        ck_assert_ptr_nonnull(strstr(text, "\"static_mac\": \"02:00:00:00:00:01\""));
        attachment_free(attachment);
}
END_TEST

START_TEST(test_error) {
        g_autofree char *message = netavark_parse_error("{\"error\":\"it\"}", 14),
                        *none = netavark_parse_error("{}", 2);

        ck_assert_str_eq(message, "it");
        ck_assert_ptr_null(none);
}
END_TEST

TEST_MAIN("netavark-json", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_setup);
        tcase_add_test(tcase, test_error);
})
