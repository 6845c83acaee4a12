/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/resource.h>
#include <unistd.h>

#include "libstart/userns/userns-pin.h"
#include "tests/unit/base/expect-error.h"

/* There is nothing to remove, which is known only where it can be looked. */
START_TEST(test_remove) {
        const struct rlimit none = { 0 };
        g_autoptr(GError) error = NULL;

        ck_assert(geteuid() != 0 || userns_pin_remove("keyturn-test-of-nobody", NULL));
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        ck_assert(!userns_pin_remove("keyturn-test-of-nobody", &error));
        expect_error(error, KT_ERROR_FAILED, "keyturn-test-of-nobody");
}
END_TEST

TEST_MAIN("userns-pin", { tcase_add_test(tcase, test_remove); })
