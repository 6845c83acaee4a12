/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "libstart/base/error.h"
#include "libstart/mount/bind-mounts.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/fail-call.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *source;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "/no/thing", KT_ERROR_NOT_FOUND,
          "on the container's '/a' (Volume=, Mount=): '/no/thing' is not there; create it" },
        { "/dev/null/x", KT_ERROR_FAILED, "Cannot mount '/dev/null/x' on the container's '/a': " },
};

START_TEST(test_bad_sources) {
        const ContainerRequest request = { 0 };
        const BindMountContext context = { .root_fd = -1, .request = &request };
        OciMount oci = { .source = (char *) bad[_i].source, .destination = (char *) "/a" };
        ContainerMount mount = { .oci = &oci };
        g_autoptr(GError) error = NULL;

        ck_assert_int_lt(bind_mount_open_source(&context, &mount, &error), 0);
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

/* Without the flags of the mount that it is on, a volume would be writable and executable where that is not. */
START_TEST(test_flags_are_not_known) {
        const ContainerRequest request = { 0 };
        const BindMountContext context = { .root_fd = -1, .request = &request };
        const MountRequest asked = { .type = MOUNT_BIND };
        OciMount oci = { .source = (char *) "/", .destination = (char *) "/a" };
        ContainerMount mount = { .oci = &oci, .request = &asked };
        g_autoptr(GError) error = NULL;

        if (!fail_call(SYS_fstatfs, FAIL_ALL, EIO))
                return;
        ck_assert_int_lt(bind_mount_open_source(&context, &mount, &error), 0);
        expect_error(error, KT_ERROR_FAILED, "Cannot see how '/' is mounted: ");
}
END_TEST

TEST_MAIN("mounts", {
        tcase_add_loop_test(tcase, test_bad_sources, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_flags_are_not_known);
})
