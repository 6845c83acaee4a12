/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/resource.h>

#include "libstart/network/netavark.h"
#include "tests/unit/base/expect-error.h"

/* Who cannot read what to write back afterwards does not begin. */
START_TEST(test_firewall_driver_is_unknown) {
        const struct rlimit no_files = { 0, 0 };
        g_autoptr(GPtrArray) helpers = g_ptr_array_new();
        const NetworkConf conf = { .helpers = helpers };
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &no_files), 0);
        ck_assert(!netavark_setup_without_rules(&conf, "/nowhere", "{}", NULL, &error));
        expect_error(error, KT_ERROR_FAILED, "/firewall-driver': Too many open files");
}
END_TEST

TEST_MAIN("netavark", { tcase_add_test(tcase, test_firewall_driver_is_unknown); })
