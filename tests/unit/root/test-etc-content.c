/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keyturn-config.h"
#include "libstart/root/etc-content.h"
#include "tests/unit/test-main.h"

/* The expectations marked podman were read off containers of Podman 5.4.2. */

static const struct {
        const char *host, *own_name, *expected, *added;
} hosts[] = {
        { "127.0.0.1 localhost\n", NULL, "127.0.0.1\tlocalhost\n" },                           /* podman */
        { "127.0.0.1 localhost\n", "a887", "127.0.0.1\tlocalhost\n127.0.0.1\ta887 camera\n" }, /* podman */
        { "# c\n\n10.0.0.1\thub  hub.local # the hub\n::1 localhost\n", NULL,
          "10.0.0.1\thub hub.local\n::1\tlocalhost\n" },
        { "10.0.0.1\n127.0.0.1 localhost", NULL, "127.0.0.1\tlocalhost\n" },
        { NULL, NULL, "127.0.0.1\tlocalhost\n::1\tlocalhost\n" },
        { "#127.0.0.1 localhost\n", NULL, "127.0.0.1\tlocalhost\n::1\tlocalhost\n" },
        { "127.0.0.1 localhost\n", NULL, "10.0.0.1\thub hub.car\n127.0.0.1\tlocalhost\n", "10.0.0.1\thub hub.car\n" },
        { NULL, NULL, "10.0.0.1\tlocalhost\n", "10.0.0.1\tlocalhost\n" },
        { "127.0.0.1 localhost", "me", "10.0.0.1\tme\n127.0.0.1\tlocalhost\n127.0.0.1\tcamera\n", "10.0.0.1\tme\n" },
        { "1.1.1.1 me\n127.0.0.1 localhost", "me", "10.0.0.1\tcamera\n1.1.1.1\tme\n127.0.0.1\tlocalhost\n",
          "10.0.0.1\tcamera\n" },
};

START_TEST(test_hosts) {
        g_autofree char *own = hosts[_i].own_name ? etc_own_hosts(NULL, hosts[_i].own_name, "camera") : NULL;
        g_autofree char *text = etc_hosts(hosts[_i].added, hosts[_i].host, own);

        ck_assert_str_eq(text, hosts[_i].expected);
}
END_TEST

/* The instance of a socket with Accept=yes. */
START_TEST(test_hosts_without_a_name_that_is_none) {
        g_autofree char *own = etc_own_hosts(NULL, "me", "door_0-10.0.0.1:80-10.0.0.2:4000");
        g_autofree char *text = etc_hosts(NULL, "127.0.0.1 localhost\n", own);

        ck_assert_str_eq(text, "127.0.0.1\tlocalhost\n127.0.0.1\tme\n");
}
END_TEST

#define HOST \
        "nameserver 10.1.1.1\nsearch host.example lab\nnameserver fe80::1%eth0\nsearch last.example\noptions rotate\n"
#define SERVERS "nameserver 10.1.1.1\nnameserver fe80::1%eth0\n"

/* All but the last three: podman. */
static const struct {
        const char *host, *expected;
        const char *servers, *searches, *options;
} resolv_conf[] = {
        { "nameserver 10.0.0.53\n", "nameserver 10.0.0.53\n" },
        { HOST, "search last.example\n" SERVERS "options rotate\n" },
        { HOST, "search last.example\nnameserver 9.9.9.9\nnameserver 2001:db8::1\noptions rotate\n",
          "9.9.9.9,2001:DB8::1" },
        { HOST, "search a.b c last.example\n" SERVERS "options rotate\n", NULL, "a.b,c" },
        { HOST, SERVERS "options rotate\n", NULL, "." },
        { HOST, "search last.example\n" SERVERS "options x y rotate\n", NULL, NULL, "x y" },
        { HOST, "search x\nnameserver 9.9.9.9\noptions y\n", "9.9.9.9", "x", "y" },
        { HOST, "search last.example\nnameserver 9.9.9.9\noptions y\n", "9.9.9.9", NULL, "y" },
        { HOST, "nameserver 9.9.9.9\noptions rotate\n", "9.9.9.9", "." },
        { "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n",
          "nameserver 127.0.0.53\noptions edns0 trust-ad\n" },
        { "nameserver 127.0.0.53\nsearch .\n", "search x .\nnameserver 127.0.0.53\n", NULL, "x" },
        { "nameserver 10.1.1.1 10.1.1.2\n nameserver 10.1.1.3\nnameserver\t10.1.1.4 # x\nsearch a b # c\n; x\n"
          "nameserver 10.1.1.5;x\noptions a b # c\nsortlist 1.2.3.4\noptions\nsearch\nnameserver bad\n"
          "nameserver 10.1.1.1\n",
          "nameserver 10.1.1.3\nnameserver 10.1.1.4\nnameserver 10.1.1.1\n" },
        { "search a b \noptions   x   y \nnameserver 1.2.3.4", "search a b\nnameserver 1.2.3.4\noptions x y\n" },
        { "domain foo\n", "" },
        { NULL, "options x\n", NULL, NULL, "x" },
        { "# by hand\noptions edns0 trust-ad\n;x\nnameserver 127.0.0.53\nsearch lan  car.lan\n",
          "search lan car.lan\nnameserver 127.0.0.53\noptions edns0 trust-ad\n" },
        { "nameserver\nsortlist 1.2.3.4\n", "" },
        { NULL, "" },
};

START_TEST(test_resolv_conf) {
        g_auto(DnsRequest) dns = { 0 };

        ck_assert(!resolv_conf[_i].servers || dns_request_add_servers(resolv_conf[_i].servers, &dns, NULL));
        ck_assert(!resolv_conf[_i].searches || dns_request_add_searches(resolv_conf[_i].searches, &dns, NULL));
        ck_assert(!resolv_conf[_i].options || dns_request_add_options(resolv_conf[_i].options, &dns, NULL));
        g_autofree char *text = etc_resolv_conf(resolv_conf[_i].host, &dns, NULL);
        ck_assert_str_eq(text, resolv_conf[_i].expected);
}
END_TEST

/* As Podman has them on a bridge with names and without, and in a namespace of which nothing is known. */
static const struct {
        const char *names, *host, *expected;
        const char *servers, *searches;
} networks[] = {
        { "nameserver 10.88.0.1\nsearch dns.podman\n", HOST,
          "search dns.podman\nnameserver 10.88.0.1\noptions rotate\n" },
        { "nameserver 10.88.0.1\nsearch dns.podman\n", HOST, "search x\nnameserver 10.88.0.1\noptions rotate\n",
          "9.9.9.9", "x" },
        { "host 10.88.0.2 camera\n", HOST, "search last.example\nnameserver 10.1.1.1\noptions rotate\n" },
        { "host 10.88.0.2\nhost fd00::2\n", HOST, "search last.example\n" SERVERS "options rotate\n" },
        { "host 10.88.0.2\n", HOST, "search last.example\nnameserver 9.9.9.9\noptions rotate\n", "9.9.9.9" },
        { "", "nameserver 127.0.0.53\noptions edns0\n", "nameserver 8.8.8.8\nnameserver 8.8.4.4\noptions edns0\n" },
        { "host fd00::2 x", "nameserver ::1\n",
          "nameserver 8.8.8.8\nnameserver 8.8.4.4\nnameserver 2001:4860:4860::8888\n"
          "nameserver 2001:4860:4860::8844\n" },
};

START_TEST(test_resolv_conf_of_a_network) {
        g_auto(NetworkNames) names = { 0 };
        g_auto(DnsRequest) dns = { 0 };

        network_names_parse(networks[_i].names, &names);
        ck_assert(!networks[_i].servers || dns_request_add_servers(networks[_i].servers, &dns, NULL));
        ck_assert(!networks[_i].searches || dns_request_add_searches(networks[_i].searches, &dns, NULL));
        g_autofree char *text = etc_resolv_conf(networks[_i].host, &dns, &names);
        ck_assert_str_eq(text, networks[_i].expected);
}
END_TEST

START_TEST(test_resolv_conf_elsewhere) {
        ck_assert_str_eq(etc_resolv_conf_elsewhere("nameserver 127.0.0.53\n"), "/run/systemd/resolve/resolv.conf");
        ck_assert_str_eq(etc_resolv_conf_elsewhere("nameserver 127.0.0.1\n"),
                         "/run/NetworkManager/no-stub-resolv.conf");
        ck_assert_ptr_null(etc_resolv_conf_elsewhere("nameserver 127.0.0.53\nnameserver 10.1.1.1\n"));
        ck_assert_ptr_null(etc_resolv_conf_elsewhere(NULL));
}
END_TEST

static const struct {
        const char *names, *added, *host, *expected;
} network_hosts[] = {
        { "host 10.88.0.2 camera\ngateway 10.88.0.1\n", NULL, "127.0.0.1 localhost\n",
          "127.0.0.1\tlocalhost\n10.88.0.1\thost.containers.internal host.docker.internal\n"
          "10.88.0.2\ta887 camera\n" },
        { "host 10.88.0.2 web www\nhost fd00::2\n", NULL, "127.0.0.1 localhost www\n",
          "127.0.0.1\tlocalhost www\n10.88.0.2\ta887 camera web\nfd00::2\ta887 camera\n" },
        { "gateway 10.88.0.1\ngateway 10.89.0.1\nhost\n\nunknown x\n", "192.0.2.1\thost.containers.internal\n", NULL,
          "192.0.2.1\thost.containers.internal\n127.0.0.1\tlocalhost\n::1\tlocalhost\n"
          "10.88.0.1\thost.docker.internal\n" },
        { "", NULL, "127.0.0.1 localhost\n", "127.0.0.1\tlocalhost\n" },
};

START_TEST(test_hosts_of_a_network) {
        g_auto(NetworkNames) names = { 0 };

        network_names_parse(network_hosts[_i].names, &names);
        g_autofree char *own = etc_own_hosts(&names, "a887", "camera");
        g_autofree char *text = etc_hosts(network_hosts[_i].added, network_hosts[_i].host, own);
        ck_assert_str_eq(text, network_hosts[_i].expected);
}
END_TEST

START_TEST(test_passwd) {
        UserIdentity known = { .uid = 1000, .in_passwd = true };
        UserIdentity unknown = { .uid = 1234, .gid = 5678, .explicit_group = true };
        UserIdentity no_group = { .uid = 1234 };
        UserIdentity root = { 0 };
        g_autofree char *passwd = etc_passwd("root:x:0:0::/root:/bin/sh", &unknown, NULL, "/app");
        g_autofree char *group = etc_group(NULL, &unknown, NULL);

        ck_assert_str_eq(passwd, "root:x:0:0::/root:/bin/sh\n1234:*:1234:5678:container user:/app:/bin/sh\n");
        ck_assert_str_eq(group, "5678:x:5678:1234\n");
        g_free(group);
        group = etc_group("root:x:0:\n", &no_group, NULL);
        ck_assert_str_eq(group, "root:x:0:\n1234:x:1234:1234\n"); /* podman */
        ck_assert_ptr_null(etc_group("cameras:x:5678:\n", &unknown, NULL));
        ck_assert_ptr_null(etc_group("a\nb:x:5678", &unknown, NULL));
        g_free(passwd);
        passwd = etc_passwd(NULL, &no_group, NULL, "/x\nroot::0:0::/:/bin/sh");
        ck_assert_str_eq(passwd, "1234:*:1234:0:container user:/:/bin/sh\n");
        ck_assert_ptr_null(etc_passwd("x", &known, NULL, "/"));
        ck_assert_ptr_null(etc_group("x", &known, NULL));
        ck_assert_ptr_null(etc_passwd(NULL, &root, NULL, "/"));
        ck_assert_ptr_null(etc_group(NULL, &root, NULL));
}
END_TEST

START_TEST(test_whom_keep_id_keeps) {
        static const char passwd[] = "root:x:0:0::/root:/bin/sh\nshort\nalice:x:1234:100:A, B:/home/alice:/bin/sh\n";
        g_auto(KeptUser) alice = kept_user_find(1234, 100, passwd, "root:x:0:\nusers:x:100:bob\n"),
                         nobody = kept_user_find(1235, 1235, passwd, NULL);
        UserIdentity user = { .uid = 1234, .gid = 100, .explicit_group = true }, root = { 0 },
                     other = { .uid = 7, .gid = 8, .explicit_group = true };
        struct {
                const UserIdentity *user;
                const KeptUser *kept;
                const char *text, *passwd, *group;
        } rows[] = {
                { &user, &alice, NULL, "alice:*:1234:100::/:/bin/sh\n", "users:x:100:alice\n" },
                { &root, &alice, "a:b", "a:b\nalice:*:1234:100::/:/bin/sh\n", "a:b\nusers:x:100:alice\n" },
                { &other, &alice, NULL, "alice:*:1234:100::/:/bin/sh\n7:*:7:8:container user:/:/bin/sh\n",
                  "users:x:100:alice\n8:x:8:7\n" },
                { &root, &nobody, NULL, NULL, NULL },
                { &user, &nobody, NULL, "1234:*:1234:100:container user:/:/bin/sh\n", "100:x:100:1234\n" },
                { &root, &alice, "alice:x:5:6\nusers:x:7", NULL, NULL }, /* the image knows another of that name */
                { &root, &alice, "a:x:1234\nb:x:100", NULL, NULL },      /* or of these numbers */
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *passwds = etc_passwd(rows[i].text, rows[i].user, rows[i].kept, "/"),
                                *groups = etc_group(rows[i].text, rows[i].user, rows[i].kept);

                ck_assert_pstr_eq(passwds, rows[i].passwd);
                ck_assert_pstr_eq(groups, rows[i].group);
        }
}
END_TEST

START_TEST(test_containerenv) {
        g_autofree char *text = etc_containerenv("systemd-x", "localhost/x\"y", "12ab");

        ck_assert_str_eq(text, "engine=\"keyturn-" KEYTURN_VERSION "\"\nname=\"systemd-x\"\nid=\"systemd-x\"\n"
                               "image=\"localhost/x\\\"y\"\nimageid=\"12ab\"\nrootless=0\n");
        g_free(text);
        text = etc_containerenv("x", NULL, NULL);
        ck_assert_str_eq(strchr(text, '\n') + 1, "name=\"x\"\nid=\"x\"\nimage=\"\"\nimageid=\"\"\nrootless=0\n");
}
END_TEST

TEST_MAIN("etc-content", {
        tcase_add_loop_test(tcase, test_hosts, 0, G_N_ELEMENTS(hosts));
        tcase_add_test(tcase, test_hosts_without_a_name_that_is_none);
        tcase_add_loop_test(tcase, test_resolv_conf, 0, G_N_ELEMENTS(resolv_conf));
        tcase_add_loop_test(tcase, test_resolv_conf_of_a_network, 0, G_N_ELEMENTS(networks));
        tcase_add_test(tcase, test_resolv_conf_elsewhere);
        tcase_add_loop_test(tcase, test_hosts_of_a_network, 0, G_N_ELEMENTS(network_hosts));
        tcase_add_test(tcase, test_passwd);
        tcase_add_test(tcase, test_containerenv);
        tcase_add_test(tcase, test_whom_keep_id_keeps);
})
