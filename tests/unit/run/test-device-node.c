/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/run/device-node.h"
#include "tests/unit/base/expect-error.h"

START_TEST(test_device) {
        g_autoptr(GError) error = NULL;
        g_autofree char *node = NULL;

        ck_assert(device_node_find("/dev//null", "rwm", &node, &error));
        ck_assert_str_eq(node, "/dev/null");
}
END_TEST

START_TEST(test_link) {
        g_autofree char *directory = g_dir_make_tmp("keyturn-XXXXXX", NULL);
        g_autofree char *link = g_build_filename(directory, "link", NULL), *node = NULL;

        ck_assert_int_eq(symlink("/dev/null", link), 0);
        ck_assert(device_node_find(link, "m", &node, NULL));
        ck_assert_str_eq(node, "/dev/null");
        unlink(link);
        rmdir(directory);
}
END_TEST

static const struct {
        const char *path;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "/dev/no-thing/x", KT_ERROR_NOT_FOUND,
          "BindsTo=dev-no\\x2dthing-x.device and After=dev-no\\x2dthing-x.device in [Unit]" },
        { "/dev/no-thing", KT_ERROR_NOT_FOUND, "AddDevice=-/dev/no-thing" },
        { "/dev/no:th_i.ng", KT_ERROR_NOT_FOUND, "=dev-no:th_i.ng.device" },
        { "/dev/null/x", KT_ERROR_FAILED, "'/dev/null/x'" },
        { "/dev", KT_ERROR_UNSUPPORTED, "'/dev' is a directory" },
        { "/proc/self/exe", KT_ERROR_UNSUPPORTED, "'/proc/self/exe' is no device" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        char *node = NULL;

        ck_assert(!device_node_find(bad[_i].path, "r", &node, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
        ck_assert_ptr_null(node);
}
END_TEST

TEST_MAIN("device-node", {
        tcase_add_test(tcase, test_device);
        tcase_add_test(tcase, test_link);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
