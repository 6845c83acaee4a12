/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "libstart/ctl/ports.h"
#include "libstart/network/namespace-state.h"
#include "tests/unit/ctl/print-command.h"

/* The tests' directory in the place of /run. */
static void setup(void) {
        make_work();
        setenv("XDG_RUNTIME_DIR", work, 1);
        namespace_state_go_outside();
}

static const struct {
        const char *mappings; /* NULL: there is no file */
        const char *ports;
} files[] = {
        { NULL, NULL },
        { "", NULL },
        { "\"port_mappings\":[]", NULL },
        { "\"port_mappings\":{}", NULL },
        { "\"port_mappings\":[{\"container_port\":80,\"host_ip\":\"\",\"host_port\":8080,\"protocol\":\"tcp\","
          "\"range\":1}]",
          "8080->80/tcp" },
        { "\"port_mappings\":[{\"container_port\":53,\"host_ip\":\"127.0.0.1\",\"host_port\":53,\"protocol\":\"udp\","
          "\"range\":1},{\"container_port\":1,\"host_ip\":\"\",\"host_port\":65534,"
          "\"protocol\":\"sctp\",\"range\":2}]",
          "127.0.0.1:53->53/udp\n65534-65535->1-2/sctp" },
        { "\"port_mappings\":[{\"container_port\":80,\"host_ip\":\"2001:db8::1\",\"host_port\":8080,"
          "\"protocol\":\"tcp\",\"range\":1}]",
          "[2001:db8::1]:8080->80/tcp" },
        /* What keyturn does not write. */
        { "\"port_mappings\":[7,{}]", "->0\n->0" },
        { "\"port_mappings\":[{\"container_port\":99999,\"host_port\":-1,\"range\":99999999999999999999}]",
          "->65535" },
        { "\"port_mappings\":[", NULL },
};

START_TEST(test_ports) {
        g_autofree char *text = g_strdup_printf("{%s}", files[_i].mappings ?: ""), *ports = NULL;

        if (files[_i].mappings)
                write_file("keyturn/network/web/setup", text);
        ports = network_ports("web");
        ck_assert_pstr_eq(ports, files[_i].ports);
}
END_TEST

static const struct {
        const char *network; /* NULL: no option */
        bool has;
} networks[] = {
        { NULL, false },       { "host", false },    { "none", false },          { "pinned:web", true },
        { "owned:web", true }, { "pinned:", false }, { "container:web", false }, { "ns:/run/netns/web", false },
};

START_TEST(test_container) {
        g_autoptr(GPtrArray) all = new_containers();
        g_autofree char *words = networks[_i].network ? g_strdup_printf("--network|%s|i", networks[_i].network) :
                                                        g_strdup("i"),
                        *ports = NULL;

        write_file("keyturn/network/web/setup",
                   "{\"port_mappings\":[{\"container_port\":80,\"host_port\":80,\"protocol\":\"tcp\",\"range\":1}]}");
        ports = container_ports(add_container(all, "u.service", words));
        ck_assert_pstr_eq(ports, networks[_i].has ? "80->80/tcp" : NULL);
}
END_TEST

TEST_MAIN("ctl/ports", {
        tcase_add_checked_fixture(tcase, setup, remove_work);
        tcase_add_loop_test(tcase, test_ports, 0, G_N_ELEMENTS(files));
        tcase_add_loop_test(tcase, test_container, 0, G_N_ELEMENTS(networks));
})
