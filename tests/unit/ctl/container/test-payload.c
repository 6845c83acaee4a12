/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/ctl/container/payload.h"
#include "tests/unit/base/expect-error.h"

static ContainerUnit container = { .unit = (char *) "web", .cgroup = (char *) "/" };

/* So many descriptors can be opened. */
static void limit_descriptors(rlim_t more) {
        int next = dup(STDIN_FILENO);
        const struct rlimit limit = { (rlim_t) next + more, (rlim_t) next + more };

        close(next);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(test_open) {
        _cleanup_close_ int payload = -1;

        container.pid = (guint) getpid();
        payload = payload_open(&container, NULL);
        ck_assert_int_ge(payload, 0);
        ck_assert(payload_check_lives(&container, payload, NULL));
        ck_assert(payload_has_process(&container, container.pid, NULL));
}
END_TEST

START_TEST(test_ended) {
        g_autoptr(GError) reaped = NULL, none = NULL, others = NULL;
        pid_t child = fork();

        if (child == 0)
                _exit(0);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        container.pid = (guint) child;
        ck_assert_int_lt(payload_open(&container, &reaped), 0);
        expect_error(reaped, KT_ERROR_NOT_FOUND, "has ended");
        container.pid = 0;
        ck_assert_int_lt(payload_open(&container, &none), 0);
        expect_error(none, KT_ERROR_NOT_FOUND, "has ended");
        container.cgroup = (char *) "/system.slice/other.service";
        ck_assert(!payload_has_process(&container, (guint) getpid(), &others));
        expect_error(others, KT_ERROR_NOT_FOUND, "has ended");
}
END_TEST

/* Who cannot be looked at has not ended. */
START_TEST(test_no_descriptors) {
        g_autoptr(GError) error = NULL;

        container.pid = (guint) getpid();
        limit_descriptors((rlim_t) _i);
        ck_assert_int_lt(payload_open(&container, &error), 0);
        expect_error(error, KT_ERROR_FAILED, "Too many open files");
}
END_TEST

TEST_MAIN("ctl/container/payload", {
        tcase_add_test(tcase, test_open);
        tcase_add_test(tcase, test_ended);
        tcase_add_loop_test(tcase, test_no_descriptors, 0, 2);
})
