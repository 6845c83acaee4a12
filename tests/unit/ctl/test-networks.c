/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "libstart/ctl/commands.h"
#include "libstart/network/namespace-state.h"
#include "tests/unit/ctl/print-command.h"

/* The tests' directory in the place of /run, and of Podman's. */
static void setup(void) {
        make_work();
        set_conf("network", "network_config_dir", "networks");
        setenv("XDG_RUNTIME_DIR", work, 1);
        namespace_state_go_outside();
}

static char *print(void) {
        return print_dense(command_networks, NULL, NULL, 0);
}

#define DEFAULT                                                                                            \
        "{\"network\":\"podman\",\"driver\":\"bridge\",\"subnets\":[\"10.88.0.0/16\"],\"container\":null," \
        "\"unit\":null,\"addresses\":null,\"ports\":null}"

START_TEST(test_default) {
        g_autofree char *json = print();

        ck_assert_str_eq(json, "[" DEFAULT "]");
}
END_TEST

#define LAN                                                                                                    \
        "{\"name\":\"lan\",\"id\":\"0\",\"driver\":\"bridge\",\"network_interface\":\"podman1\",\"subnets\":[" \
        "{\"subnet\":\"10.89.0.0/24\",\"gateway\":\"10.89.0.1\"},{\"subnet\":\"fd00::/64\",\"gateway\":\"fd00::1\"}]}"

#define SETUP(unit, name, networks)                                                                   \
        "{\"keyturn_unit\":\"" unit "\",\"container_name\":\"" name "\",\"networks\":{" networks "}," \
        "\"port_mappings\":[{\"container_port\":80,\"host_port\":8080,\"protocol\":\"tcp\",\"range\":1}]}"

#define IN_LAN \
        "{\"network\":\"lan\",\"driver\":\"bridge\",\"subnets\":[\"10.89.0.0/24\",\"fd00::/64\"],\"container\":"

/* A row for each container; one without, where there is none. */
START_TEST(test_containers) {
        g_autofree char *json = NULL;

        write_file("networks/lan.json", LAN);
        write_file("keyturn/network/web/setup",
                   SETUP("web", "a\\u001b", "\"lan\":{\"static_ips\":[\"10.89.0.2\",\"fd00::2\",\"x\"]}"));
        write_file("keyturn/network/db/setup", SETUP("db", "db", "\"lan\":{}"));
        json = print();
        ck_assert_str_eq(json,
                         "[" IN_LAN
                         "\"db\",\"unit\":\"db.service\",\"addresses\":null,\"ports\":[\"8080:80/tcp\"]}," IN_LAN
                         "\"a\\u001B\",\"unit\":\"web.service\",\"addresses\":[\"10.89.0.2\",\"fd00::2\"],"
                         "\"ports\":[\"8080:80/tcp\"]}," DEFAULT "]");
}
END_TEST

/* The container of a network that has been removed is still shown, and what describes none. */
START_TEST(test_without_definition) {
        g_autofree char *json = NULL;

        write_file("networks/broken.json", "{");
        write_file("keyturn/network/web/setup", SETUP("web", "web", "\"gone\":{}"));
        write_file("keyturn/network/half/setup", "{\"networks\":");
        json = print();
        ck_assert_str_eq(json,
                         "[{\"network\":\"broken\",\"driver\":null,\"subnets\":null,\"container\":null,\"unit\":null,"
                         "\"addresses\":null,\"ports\":null}," DEFAULT ","
                         "{\"network\":\"gone\",\"driver\":null,\"subnets\":null,\"container\":\"web\","
                         "\"unit\":\"web.service\",\"addresses\":null,\"ports\":[\"8080:80/tcp\"]}]");
}
END_TEST

TEST_MAIN("ctl/networks", {
        tcase_add_checked_fixture(tcase, setup, remove_work);
        tcase_add_test(tcase, test_default);
        tcase_add_test(tcase, test_containers);
        tcase_add_test(tcase, test_without_definition);
})
