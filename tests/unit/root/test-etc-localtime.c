/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/root/etc-content.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/own-tree.h"

static char *root;

static void put(const char *name, const char *content, gssize length) {
        g_autofree char *path = g_build_filename(root, name, NULL);
        g_autofree char *directory = g_path_get_dirname(path);

        ck_assert_int_eq(g_mkdir_with_parents(directory, 0755), 0);
        ck_assert(g_file_set_contents(path, content, length, NULL));
}

static void set_up(void) {
        root = g_dir_make_tmp("keyturn-localtime-XXXXXX", NULL);
        ck_assert_ptr_nonnull(root);
        put("usr/share/zoneinfo/Europe/Berlin", "TZif2\0\0zone", 11);
        put("usr/share/zoneinfo/tzdata", "# a list", -1);
}

static void tear_down(void) {
        own_tree_remove(root);
}

START_TEST(test_content) {
        g_autofree char *content = NULL, *local = NULL;
        gsize length = 0;

        put("etc/localtime", "TZif3\0here", 10);
        ck_assert(etc_localtime(root, "Europe/Berlin", &content, &length, NULL));
        ck_assert_uint_eq(length, 11);
        ck_assert_mem_eq(content, "TZif2\0\0zone", 11);
        ck_assert(etc_localtime(root, "local", &local, &length, NULL));
        ck_assert_uint_eq(length, 10);
        ck_assert_mem_eq(local, "TZif3\0here", 10);
}
END_TEST

START_TEST(test_bad) {
        static const struct {
                const char *zone, *message;
        } bad[] = {
                { "local", "The host has no time zone" },
                { "Europe", "There is no time zone 'Europe'" },
                { "Europe/Bonn", "install tzdata" },
                { "tzdata", "is no zone" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autoptr(GError) error = NULL;
                char *content = NULL;
                gsize length;

                ck_assert(!etc_localtime(root, bad[i].zone, &content, &length, &error));
                expect_error(error, KT_ERROR_FAILED, bad[i].message);
                ck_assert_ptr_null(content);
        }
}
END_TEST

TEST_MAIN("etc-localtime", {
        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, test_content);
        tcase_add_test(tcase, test_bad);
})
