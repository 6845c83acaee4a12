/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "libstart/service/host.h"
#include "tests/unit/fail-call.h"
#include "tests/unit/request/read-words.h"

START_TEST(test_devices) {
        g_auto(ReadWords) asked = read_words(WORDS("--device=-/dev/no-thing", "--device=/dev/null:/n:m", "i"));
        g_auto(Host) host = { 0 };

        ck_assert(host_find_devices(&host, &asked.request, NULL));
        ck_assert_uint_eq(host.facts.device_nodes->len, 1);
        ck_assert_str_eq(((const DeviceNode *) host.facts.device_nodes->pdata[0])->destination, "/n");
}
END_TEST

static const struct {
        const char *option;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "--device=/dev/no-thing", KT_ERROR_NOT_FOUND, "'/dev/no-thing' is not there" },
};

START_TEST(test_bad) {
        g_auto(ReadWords) asked = read_words(WORDS(bad[_i].option, "i"));
        g_autoptr(GError) error = NULL;
        g_auto(Host) host = { 0 };

        ck_assert(!host_find_devices(&host, &asked.request, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

/* Whether there is something to be masked: what cannot be seen is masked where it is there. */
START_TEST(test_masks_are_not_left_out) {
        g_auto(Host) host = { 0 };

        if (!fail_access(EIO))
                return;
        ck_assert(host_gather(&host, NULL));
        ck_assert_ptr_nonnull(host.facts.thermal_throttle);
}
END_TEST

START_TEST(test_capabilities_are_not_known) {
        g_autoptr(GError) error = NULL;
        g_auto(Host) host = { 0 };

        if (!fail_call(SYS_prctl, PR_CAPBSET_READ, EINVAL))
                return;
        ck_assert(!host_gather(&host, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot see whether there is CAP_CHOWN");
}
END_TEST

TEST_MAIN("host", {
        tcase_add_test(tcase, test_devices);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_masks_are_not_left_out);
        tcase_add_test(tcase, test_capabilities_are_not_known);
})
