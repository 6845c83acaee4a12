/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/definition.h"
#include "tests/unit/base/parse-tests.h"

#define BRIDGE "{\"name\": \"web\", \"driver\": \"bridge\", \"network_interface\": \"podman1\", "

/* A file, and what is in it when its addresses have been shared. */
static const GoodValue good[] = {
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\"}]}",
          "bridge podman1 10.89.0.0/24,10.89.0.1,10.89.0.1-10.89.0.127,10.89.0.128-10.89.0.254 shared" },
        { BRIDGE "\"internal\": true, \"subnets\": [{\"subnet\": \"10.89.0.0/24\"}]}",
          "bridge podman1 10.89.0.0/24,-,10.89.0.1-10.89.0.127,10.89.0.128-10.89.0.254 shared" },
        { BRIDGE "\"internal\": true, \"dns_enabled\": true, \"subnets\": [{\"subnet\": \"10.89.0.0/24\"}]}",
          "bridge podman1 10.89.0.0/24,10.89.0.1,10.89.0.1-10.89.0.127,10.89.0.128-10.89.0.254 shared" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\", \"gateway\": \"10.89.0.9\", \"lease_range\": "
                 "{\"start_ip\": \"10.89.0.100\", \"end_ip\": \"10.89.0.103\"}}]}",
          "bridge podman1 10.89.0.0/24,10.89.0.9,10.89.0.100-10.89.0.101,10.89.0.102-10.89.0.103 shared" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\", \"lease_range\": {\"start_ip\": \"10.89.0.253\"}}]}",
          "bridge podman1 10.89.0.0/24,10.89.0.1,10.89.0.253-10.89.0.254,10.89.0.253-10.89.0.254" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.0.0.0/29\"}, {\"subnet\": \"10.1.0.0/30\"}]}",
          "bridge podman1 10.0.0.0/29,10.0.0.1,10.0.0.1-10.0.0.6,10.0.0.1-10.0.0.6 "
          "10.1.0.0/30,10.1.0.1,10.1.0.1-10.1.0.2,10.1.0.1-10.1.0.2" },
        { "{\"name\": \"web\", \"driver\": \"macvlan\", \"ipam_options\": {\"driver\": \"dhcp\"}}", "macvlan -" },
        /* A label that does not fit, as somebody has changed the subnet. */
        { BRIDGE
          "\"labels\": {\"io.keyturn.addresses\": \"10.1.0.4-10.1.0.6\"}, \"subnets\": "
          "[{\"subnet\": \"10.0.0.0/29\", \"lease_range\": {\"start_ip\": \"10.0.0.1\", \"end_ip\": \"10.0.0.6\"}}]}",
          "bridge podman1 10.0.0.0/29,10.0.0.1,10.0.0.1-10.0.0.3,10.0.0.4-10.0.0.6 shared" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "" },
        { "[]", KT_ERROR_FAILED, "no object" },
        { "{}", KT_ERROR_FAILED, "another name: ''" },
        { "{\"name\": \"other\", \"driver\": \"bridge\"}", KT_ERROR_FAILED, "another name: 'other'" },
        { "{\"name\": \"web\"}", KT_ERROR_FAILED, "no driver" },
        { "{\"name\": \"web\", \"driver\": \"bridge\", \"network_interface\": \"a/b\"}", KT_ERROR_USAGE, "'a/b'" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0\"}]}", KT_ERROR_USAGE, "no subnet" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/32\"}]}", KT_ERROR_FAILED, "no addresses" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\", \"gateway\": \"10.88.0.1\"}]}", KT_ERROR_FAILED,
          "'10.88.0.1'" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\", \"lease_range\": {\"start_ip\": \"10.89.0.9\", "
                 "\"end_ip\": \"10.89.0.8\"}}]}",
          KT_ERROR_FAILED, "behind the last" },
        { BRIDGE "\"subnets\": [{\"subnet\": \"10.89.0.0/24\", \"lease_range\": {\"start_ip\": \"1.1.1.1\"}}]}",
          KT_ERROR_FAILED, "'1.1.1.1'" },
};

static char *describe(const NetworkDefinition *definition) {
        GString *text = g_string_new(definition->driver);

        g_string_append_printf(text, " %s", *definition->interface ? definition->interface : "-");
        for (guint i = 0; i < definition->subnets->len; i++) {
                const NetworkSubnet *subnet = &g_array_index(definition->subnets, NetworkSubnet, i);
                g_autofree char *prefix = ip_prefix_format(&subnet->prefix),
                                *range = address_range_format(&subnet->range);
                g_autofree char *ours = address_range_format(&subnet->ours);
                g_autofree char *gateway = subnet->has_gateway ? ip_address_format(&subnet->gateway) : g_strdup("-");

                g_string_append_printf(text, " %s,%s,%s,%s", prefix, gateway, range, ours);
        }
        g_string_append(text, definition->shared ? " shared" : "");
        return g_string_free(text, FALSE);
}

/* What is written is read as the same, and has not to be shared again. */
static char *parse(const char *value, GError **error) {
        g_autoptr(NetworkDefinition) definition = network_definition_parse(value, strlen(value), "web", error),
                                     again = NULL;
        g_autofree char *written = NULL, *text = NULL, *text_again = NULL;

        if (!definition)
                return NULL;
        ck_assert_int_eq(network_definition_share(definition), definition->shared);
        text = describe(definition);
        written = network_definition_format(definition);
        again = network_definition_parse(written, strlen(written), "web", NULL);
        ck_assert_msg(again, "%s", written);
        ck_assert(!network_definition_share(again) || !definition->shared);
        text_again = describe(again);
        ck_assert_str_eq(text, text_again);
        return g_steal_pointer(&text);
}

PARSE_TESTS(parse)

/* What this version does not know stays. */
START_TEST(test_unknown_keys_stay) {
        static const char file[] = BRIDGE "\"future\": {\"a\": [1, 2.5e3, null, true]}, \"labels\": {\"x\": \"y\"}}";
        g_autoptr(NetworkDefinition) definition = network_definition_parse(file, strlen(file), "web", NULL);
        g_autofree char *written = NULL;

        ck_assert(definition);
        written = network_definition_format(definition);
        ck_assert_ptr_nonnull(strstr(written, "2.5e3"));
        ck_assert_ptr_nonnull(strstr(written, "\"x\": \"y\""));
}
END_TEST

START_TEST(test_default) {
        g_autoptr(NetworkDefinition) definition = network_definition_default("podman", "10.88.0.0/16", NULL);
        g_autofree char *text = NULL;

        ck_assert(definition && !definition->dns && network_definition_share(definition));
        text = describe(definition);
        ck_assert_str_eq(text,
                         "bridge podman0 10.88.0.0/16,10.88.0.1,10.88.0.1-10.88.127.255,10.88.128.0-10.88.255.254 "
                         "shared");
}
END_TEST

TEST_MAIN("definition", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_unknown_keys_stay);
        tcase_add_test(tcase, test_default);
})
