/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/pasta.h"
#include "libstart/request/network-mode.h"
#include "libstart/value/port-mapping.h"
#include "tests/unit/test-main.h"

#define DEFAULTS \
        "--dns-forward 169.254.1.1 --map-guest-addr 169.254.1.2 --no-map-gw --quiet --no-netns-quit --netns /ns"

/* In one line, without the program. NULL: an error. */
static char *format(const char *network, const char *option, const char *port) {
        g_autoptr(GPtrArray) helpers = g_ptr_array_new(), options = g_ptr_array_new();
        g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(PortMapping));
        const NetworkConf conf = { .helpers = helpers, .pasta_options = options };
        PortMapping mapping;
        char *words;

        if (option)
                g_ptr_array_add(options, (void *) option);
        if (port) {
                ck_assert(port_mapping_parse(port, &mapping, NULL));
                g_array_append_val(ports, mapping);
        }
        words = pasta_format_words(&conf, network, ports, "/ns", NULL);
        if (!words)
                return NULL;
        ck_assert(g_str_has_prefix(words, "/usr/bin/pasta\n--config-net\n") && g_str_has_suffix(words, "\n"));
        memmove(words, words + strlen("/usr/bin/pasta\n--config-net\n"),
                strlen(words + strlen("/usr/bin/pasta\n--config-net\n")) + 1);
        return g_strstrip(g_strdelimit(words, "\n", ' '));
}

static void expect(const char *network, const char *option, const char *port, const char *wanted) {
        g_autofree char *words = format(network, option, port);

        ck_assert_str_eq(words, wanted);
}

START_TEST(test_names) {
        ck_assert(network_mode_is_pasta("pasta") && network_mode_is_pasta("pasta:") &&
                  network_mode_is_pasta("pasta:-T,80"));
        ck_assert(!network_mode_is_pasta("pastas") && !network_mode_is_pasta("past") &&
                  !network_mode_is_pasta("host"));
}
END_TEST

/* Nothing leads in or out that nobody has asked for. */
START_TEST(test_words) {
        expect("pasta", NULL, NULL, "-t none -u none -T none -U none " DEFAULTS);
        expect("pasta", NULL, "8080:80", "-t 8080-8080:80-80 -u none -T none -U none " DEFAULTS);
        expect("pasta", NULL, "127.0.0.1:8080-8081:80-81/udp",
               "-u 127.0.0.1/8080-8081:80-81 -t none -T none -U none " DEFAULTS);
        expect("pasta", NULL, "[::1]:53:53/tcp,udp",
               "-t ::1/53-53:53-53 -u ::1/53-53:53-53 -T none -U none " DEFAULTS);
        expect("pasta:-T,5432,--ipv4-only", NULL, NULL, "-T 5432 --ipv4-only -t none -u none -U none " DEFAULTS);
        expect("pasta:--udp-ports,auto", "--tcp-ns=80", NULL,
               "--tcp-ns=80 --udp-ports auto -t none -U none " DEFAULTS);
        expect("pasta:--map-gw,--dns-forward,10.0.0.1", NULL, NULL,
               "--dns-forward 10.0.0.1 -t none -u none -T none -U none --map-guest-addr 169.254.1.2 --quiet "
               "--no-netns-quit --netns /ns");
}
END_TEST

START_TEST(test_sctp) {
        ck_assert_ptr_null(format("pasta", NULL, "8080:80/sctp"));
}
END_TEST

TEST_MAIN("pasta", {
        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_words);
        tcase_add_test(tcase, test_sctp);
})
