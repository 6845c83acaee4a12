/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libcrun/linux.h>
#include <unistd.h>

#include "tests/unit/fail-call.h"
#include "tests/unit/test-main.h"

/* libcrun takes no error for a capability that the kernel does not know: it would stay in the bounding set. */
START_TEST(test_not_dropped) {
        libcrun_error_t err = NULL;

        ck_assert_int_eq(libcrun_init_caps(&err), 0);
        if (!fail_call(SYS_prctl, PR_CAPBSET_DROP, EINVAL))
                return;
        ck_assert_int_lt(libcrun_set_caps(NULL, getuid(), getgid(), 0, &err), 0);
        ck_assert_str_eq(err->msg, "prctl drop bounding");
        libcrun_error_release(&err);
}
END_TEST

TEST_MAIN("crun-caps", { tcase_add_test(tcase, test_not_dropped); })
