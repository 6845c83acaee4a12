/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/capability.h>

#include "libstart/option/capability.h"
#include "tests/unit/base/expect-error.h"

#define BIT(n) (G_GUINT64_CONSTANT(1) << (n))

static const struct {
        const char *value;
        guint64 mask;
} good[] = {
        { "CAP_CHOWN", BIT(CAP_CHOWN) },
        { "chown", BIT(CAP_CHOWN) },
        { "cap_Net_Bind_Service", BIT(CAP_NET_BIND_SERVICE) },
        { "SYS_ADMIN", BIT(CAP_SYS_ADMIN) },
        { "checkpoint_restore", BIT(CAP_CHECKPOINT_RESTORE) },
        { "net_raw,chown", BIT(CAP_NET_RAW) | BIT(CAP_CHOWN) },
        { "kill,KILL", BIT(CAP_KILL) },
        { "all", CAPABILITY_ALL },
        { "ALL,kill", CAPABILITY_ALL },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        guint64 mask = 0;

        ck_assert(capability_parse(good[_i].value, &mask, &error));
        ck_assert_uint_eq(mask, good[_i].mask);
}
END_TEST

static const char *const bad[] = { "", "bogus", "CAP_", "CAP_CAP_CHOWN", "CAP_ALL", "chown,", "chown kill", "21" };

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        guint64 mask = 5;

        ck_assert(!capability_parse(bad[_i], &mask, &error));
        expect_error(error, KT_ERROR_USAGE, "capability");
        ck_assert_uint_eq(mask, 5);
}
END_TEST

/* Numbers and names agree with the kernel's headers at both ends and at the places where a slip would
 * show. */
START_TEST(test_names) {
        ck_assert_int_eq(CAPABILITY_COUNT, CAP_CHECKPOINT_RESTORE + 1);
        ck_assert_str_eq(capability_name(CAP_CHOWN), "CAP_CHOWN");
        ck_assert_str_eq(capability_name(CAP_SETPCAP), "CAP_SETPCAP");
        ck_assert_str_eq(capability_name(CAP_SYS_ADMIN), "CAP_SYS_ADMIN");
        ck_assert_str_eq(capability_name(CAP_SETFCAP), "CAP_SETFCAP");
        ck_assert_str_eq(capability_name(CAP_AUDIT_READ), "CAP_AUDIT_READ");
        ck_assert_str_eq(capability_name(CAP_BPF), "CAP_BPF");
        ck_assert_ptr_null(capability_name(CAPABILITY_COUNT));
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++) {
                guint64 mask = 0;

                ck_assert(capability_parse(capability_name(i), &mask, NULL));
                ck_assert_uint_eq(mask, BIT(i));
        }
}
END_TEST

TEST_MAIN("capability", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_names);
})
