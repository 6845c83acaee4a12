/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/mount/overlay.h"
#include "tests/unit/test-main.h"

START_TEST(test_options_escape) {
        char *layers[] = { (char *) "/a:b", (char *) "/c,d", (char *) "/e\\f", NULL };
        g_autofree char *options = overlay_options(layers, "/u\\x2d", "/w:");
        g_autofree char *read_only = overlay_options(layers, NULL, NULL);

        ck_assert_str_eq(options, "lowerdir=/a\\:b:/c\\,d:/e\\\\f,upperdir=/u\\\\x2d,workdir=/w\\:");
        ck_assert_str_eq(read_only, "lowerdir=/a\\:b:/c\\,d:/e\\\\f");
}
END_TEST

START_TEST(test_refusal_names_the_layer) {
        char *layers[] = { (char *) "/nonexistent-layer", NULL };
        g_autoptr(GError) error = NULL;
        bool attached;

        ck_assert_int_eq(overlay_mount(layers, NULL, -1, &(MountLabel) MOUNT_LABEL_NULL, "/nonexistent", &attached,
                                       &error),
                         -1);
        ck_assert_ptr_nonnull(g_strrstr(error->message, "/nonexistent-layer"));
}
END_TEST

TEST_MAIN("overlay", {
        tcase_add_test(tcase, test_options_escape);
        tcase_add_test(tcase, test_refusal_names_the_layer);
})
