/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>

#include "libstart/network/definition.h"
#include "libstart/network/network-plan.h"
#include "libstart/network/plan-json.h"
#include "libstart/network/subnet-pool.h"
#include "tests/unit/base/expect-error.h"

/* Networks that documentation has for itself (RFC 5737): no machine that builds this is in them. */
#define NET "198.51.100.0/24"
#define OTHER "203.0.113.0/24"

static char *directory, name[] = "web";

/* The network `there` exists. */
static void make_directory(void) {
        static const char there[] =
                "{\"name\": \"there\", \"driver\": \"bridge\", \"network_interface\": \"podman1\", "
                "\"subnets\": [{\"subnet\": \"192.0.2.0/24\"}]}";
        g_autofree char *path = NULL;

        directory = g_dir_make_tmp("keyturn-network-plan-XXXXXX", NULL);
        path = g_build_filename(directory, "there.json", NULL);
        ck_assert(g_file_set_contents(path, there, -1, NULL));
}

static void remove_directory(void) {
        g_autofree char *path = g_build_filename(directory, "there.json", NULL);

        g_unlink(path);
        g_rmdir(directory);
        g_free(directory);
}

/* Where the value of a word goes. */
static const struct {
        const char *name;
        size_t text, list, flag; /* one of them, in CreateOptions; 0: not that (there, `name` is) */
} fields[] = {
        { "driver", .text = offsetof(CreateOptions, driver) },
        { "interface", .text = offsetof(CreateOptions, interface_name) },
        { "ipam", .text = offsetof(CreateOptions, ipam_driver) },
        { "subnet", .list = offsetof(CreateOptions, subnets) },
        { "gateway", .list = offsetof(CreateOptions, gateways) },
        { "range", .list = offsetof(CreateOptions, ranges) },
        { "dns", .list = offsetof(CreateOptions, dns) },
        { "label", .list = offsetof(CreateOptions, labels) },
        { "option", .list = offsetof(CreateOptions, options) },
        { "route", .list = offsetof(CreateOptions, routes) },
        { "internal", .flag = offsetof(CreateOptions, internal) },
        { "ipv6", .flag = offsetof(CreateOptions, ipv6) },
        { "no-dns", .flag = offsetof(CreateOptions, disable_dns) },
};

static void append(char ***list, const char *value) {
        guint n = *list ? g_strv_length(*list) : 0;

        *list = g_renew(char *, *list, n + 2);
        (*list)[n] = g_strdup(value);
        (*list)[n + 1] = NULL;
}

static void read_word(CreateOptions *options, const char *word) {
        g_auto(GStrv) parts = g_strsplit(word, ":", 2);
        guint i = 0;

        while (i < G_N_ELEMENTS(fields) && !g_str_equal(fields[i].name, parts[0]))
                i++;
        ck_assert_msg(i < G_N_ELEMENTS(fields), "'%s'", word);
        if (fields[i].flag)
                G_STRUCT_MEMBER(gboolean, options, fields[i].flag) = TRUE;
        else if (fields[i].list)
                append(&G_STRUCT_MEMBER(char **, options, fields[i].list), parts[1]);
        else
                G_STRUCT_MEMBER(char *, options, fields[i].text) = g_strdup(parts[1]);
}

static void clear_options(CreateOptions *options) {
        for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
                if (fields[i].text)
                        g_free(G_STRUCT_MEMBER(char *, options, fields[i].text));
                if (fields[i].list)
                        g_strfreev(G_STRUCT_MEMBER(char **, options, fields[i].list));
        }
}

static char *make_plan(const CreateOptions *options, GError **error) {
        g_auto(NetworkPlan) plan = {
                .options = options,
                .subnets = g_array_new(FALSE, FALSE, sizeof(NetworkSubnet)),
                .own = g_ptr_array_new_with_free_func(g_free),
        };
        g_auto(NetworkConf) conf = {
                .config_dir = g_strdup(directory),
                .default_network = g_strdup("podman"),
                .default_subnet = g_strdup(DEFAULT_NETWORK_SUBNET),
                .helpers = g_ptr_array_new(),
                .pools = g_array_new(FALSE, FALSE, sizeof(SubnetPool)),
        };

        return network_plan_make(&plan, &conf, error) ? plan_json_print(&plan, error) : NULL;
}

/* The file that would be written for `words`. Transfer full. */
static char *plan(const char *words, GError **error) {
        CreateOptions options = { .name = name };
        g_auto(GStrv) all = g_strsplit(words, " ", -1);
        char *text;

        for (char **word = all; *word; word++)
                read_word(&options, *word);
        text = make_plan(&options, error);
        clear_options(&options);
        return text;
}

/* `parts` stand in the file, in this order. */
static const struct {
        const char *words, *parts[6];
} good[] = {
        { "subnet:" NET,
          { "\"name\":\"web\"", "\"driver\":\"bridge\"", "\"subnet\":\"" NET "\"", "\"internal\":false",
            "\"dns_enabled\":true", "\"driver\":\"host-local\"" } },
        { "subnet:" NET " subnet:" OTHER " gateway: gateway:203.0.113.9 range:198.51.100.64/28",
          { NET, "\"start_ip\":\"198.51.100.65\"", OTHER, "\"gateway\":\"203.0.113.9\"" } },
        { "subnet:" NET " no-dns internal", { "\"internal\":true", "\"dns_enabled\":false" } },
        { "subnet:" NET " option:com.docker.network.driver.mtu=1400 option:isolate=1",
          { "\"options\":{\"mtu\":\"1400\"", "\"isolate\":\"true\"" } },
        { "subnet:" NET " option:com.docker.network.bridge.name=br7",
          { "\"network_interface\":\"br7\"", "\"options\":{}" } },
        { "subnet:" NET " label:b label:a=1 label:a=2", { "\"labels\":{\"a\":\"2\",\"b\":\"\"}" } },
        { "subnet:" NET " route:10.9.0.0/16,198.51.100.7,5",
          { "\"destination\":\"10.9.0.0/16\"", "\"gateway\":\"198.51.100.7\"", "\"metric\":5" } },
        { "driver:macvlan", { "\"driver\":\"macvlan\"", "\"dns_enabled\":false", "\"driver\":\"dhcp\"" } },
        { "driver:macvlan subnet:" NET " option:parent=eth9 option:mode=vepa",
          { "\"network_interface\":\"eth9\"", "\"mode\":\"vepa\"", "\"driver\":\"host-local\"" } },
        { "ipv6", { "\"subnet\":\"10.", "\"subnet\":\"fd", "\"ipv6_enabled\":true" } },
        { "option:mode=unmanaged ipam:dhcp interface:br7",
          { "\"network_interface\":\"br7\"", "\"mode\":\"unmanaged\"", "\"driver\":\"dhcp\"" } },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        g_autoptr(NetworkDefinition) definition = NULL;
        g_autofree char *text = plan(good[_i].words, &error);
        const char *place = text;

        ck_assert_msg(text, "%s", error ? error->message : "NULL");
        for (guint i = 0; i < G_N_ELEMENTS(good[_i].parts) && good[_i].parts[i]; i++) {
                place = strstr(place, good[_i].parts[i]);
                ck_assert_msg(place, "no %s (in this order) in %s", good[_i].parts[i], text);
        }
        definition = network_definition_parse(text, strlen(text), "web", &error);
        ck_assert_msg(definition, "%s: %s", error ? error->message : "", text);
}
END_TEST

static const struct {
        const char *words;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "driver:host", KT_ERROR_UNSUPPORTED, "no driver 'host'" },
        { "subnet:10.0.0.0", KT_ERROR_USAGE, "--subnet" },
        { "subnet:192.0.2.128/25", KT_ERROR_FAILED, "192.0.2.128/25 is in use" },
        { "subnet:" NET " gateway:10.0.0.1", KT_ERROR_USAGE, "'10.0.0.1' is no address of" },
        { "subnet:" NET " range:" OTHER, KT_ERROR_USAGE, "not in its subnet" },
        { "gateway:10.0.0.1", KT_ERROR_USAGE, "needs a subnet: there are 0" },
        { "option:mtu=65536", KT_ERROR_USAGE, "--option=mtu=65536: the value can be: number" },
        { "option:mode=bridge", KT_ERROR_USAGE, "managed unmanaged" },
        { "option:bclim=1", KT_ERROR_UNSUPPORTED, "no such option" },
        { "option:mtu", KT_ERROR_USAGE, "NAME=VALUE" },
        { "option:vrf=a/b", KT_ERROR_USAGE, "'a/b'" },
        { "interface:much-too-long-for-linux", KT_ERROR_USAGE, "much-too-long-for-linux" },
        { "ipam:static", KT_ERROR_USAGE, "host-local, dhcp and none" },
        { "ipam:dhcp", KT_ERROR_USAGE, "mode=unmanaged" },
        { "ipam:none subnet:" NET, KT_ERROR_USAGE, "no subnets to give" },
        { "driver:macvlan ipam:host-local", KT_ERROR_USAGE, "needs a subnet" },
        { "driver:ipvlan", KT_ERROR_USAGE, "a subnet is needed" },
        { "dns:here", KT_ERROR_USAGE, "--dns=here is no address" },
        { "dns:192.0.2.1 no-dns", KT_ERROR_USAGE, "no names" },
        { "subnet:" NET " route:10.0.0.0/8", KT_ERROR_USAGE, "SUBNET,GATEWAY[,METRIC]" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = plan(bad[_i].words, &error);

        ck_assert_msg(!text, "%s", text);
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

/* Without any: a bridge that nobody else has, in a subnet of its own. */
START_TEST(test_nothing_said) {
        g_autofree char *text = plan("", NULL);

        ck_assert(text);
        ck_assert_ptr_null(strstr(text, "\"podman1\""));
        ck_assert_ptr_null(strstr(text, "192.0.2."));
        ck_assert_ptr_nonnull(strstr(text, "\"network_interface\":\"podman"));
}
END_TEST

/* Who cannot see the others does not choose beside them. */
START_TEST(test_others_are_unknown) {
        const struct rlimit none = { 0, 0 };
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        ck_assert_ptr_null(plan("subnet:" NET " interface:br7", &error));
        expect_error(error, KT_ERROR_FAILED, directory);
}
END_TEST

TEST_MAIN("network-plan", {
        tcase_add_checked_fixture(tcase, make_directory, remove_directory);
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_nothing_said);
        tcase_add_test(tcase, test_others_are_unknown);
})
