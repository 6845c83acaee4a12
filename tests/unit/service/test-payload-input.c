/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libstart/service/payload-input.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/fail-call.h"

START_TEST(test_closed) {
        close(STDIN_FILENO);
        ck_assert(payload_input_open(true, true, NULL));
        ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

/* It could be the host's terminal. */
START_TEST(test_kind_is_not_known) {
        g_autoptr(GError) error = NULL;

        if (!fail_fstat(EIO))
                return;
        ck_assert(!payload_input_open(false, false, &error));
        expect_error(error, KT_ERROR_FAILED, "Cannot see what standard input is: ");
}
END_TEST

TEST_MAIN("payload-input", {
        tcase_add_test(tcase, test_closed);
        tcase_add_test(tcase, test_kind_is_not_known);
})
