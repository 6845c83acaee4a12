/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/capability.h>

#include "libstart/value/capability.h"
#include "tests/unit/base/parse-tests.h"
#include "tests/unit/fail-call.h"

#define BIT(n) (G_GUINT64_CONSTANT(1) << (n))

static const GoodValue good[] = {
        { "CAP_CHOWN", "CAP_CHOWN" },
        { "chown", "CAP_CHOWN" },
        { "cap_Net_Bind_Service", "CAP_NET_BIND_SERVICE" },
        { "SYS_ADMIN", "CAP_SYS_ADMIN" },
        { "checkpoint_restore", "CAP_CHECKPOINT_RESTORE" },
        { "net_raw,chown", "CAP_CHOWN CAP_NET_RAW" },
        { "kill,KILL", "CAP_KILL" },
        { "all", "all" },
        { "ALL,kill", "all" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "capability" },           { "bogus", KT_ERROR_USAGE, "capability" },
        { "CAP_", KT_ERROR_USAGE, "capability" },       { "CAP_CAP_CHOWN", KT_ERROR_USAGE, "capability" },
        { "CAP_ALL", KT_ERROR_USAGE, "capability" },    { "chown,", KT_ERROR_USAGE, "capability" },
        { "chown kill", KT_ERROR_USAGE, "capability" }, { "21", KT_ERROR_USAGE, "capability" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(GString) names = g_string_new(NULL);
        guint64 mask = 0;

        if (!capability_add(value, &mask, error)) {
                ck_assert_uint_eq(mask, 0);
                return NULL;
        }
        for (unsigned int i = 0; i < CAPABILITY_COUNT && mask != CAPABILITY_ALL; i++)
                if (mask & BIT(i))
                        g_string_append_printf(names, "%s%s", names->len > 0 ? " " : "", capability_name(i));
        return g_strdup(mask == CAPABILITY_ALL ? "all" : names->str);
}

PARSE_TESTS(parse)

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

                ck_assert(capability_add(capability_name(i), &mask, NULL));
                ck_assert_uint_eq(mask, BIT(i));
        }
}
END_TEST

/* What cannot be asked is not taken for the end of them. */
START_TEST(test_read_fails) {
        g_autoptr(GError) error = NULL;
        guint64 set = 7;

        if (!fail_call(SYS_prctl, PR_CAPBSET_READ, EINVAL))
                return;
        ck_assert(!bounding_set_read(&set, &error));
        ck_assert_uint_eq(set, 7);
        expect_error(error, KT_ERROR_FAILED, "Cannot see whether there is CAP_CHOWN: ");
}
END_TEST

TEST_MAIN("capability", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_read_fails);
})
