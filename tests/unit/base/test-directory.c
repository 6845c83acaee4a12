/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "tests/unit/base/expect-error.h"

static char *directory;

static void setup(void) {
        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
}

static void teardown(void) {
        ck_assert_int_eq(rmdir(directory), 0);
        g_free(directory);
}

START_TEST(test_names) {
        g_autofree char *file = g_build_filename(directory, ".one", NULL);
        g_auto(GStrv) none = directory_list(directory, NULL), one = NULL, of_file = NULL, of_missing = NULL;

        ck_assert(none && !none[0]);
        ck_assert(g_file_set_contents(file, "", -1, NULL));
        one = directory_list(directory, NULL);
        ck_assert(one && g_strv_length(one) == 1);
        ck_assert_str_eq(one[0], ".one");
        of_file = directory_list(file, NULL);
        ck_assert(of_file && !of_file[0]);
        ck_assert_int_eq(unlink(file), 0);
        of_missing = directory_list(file, NULL);
        ck_assert(of_missing && !of_missing[0]);
}
END_TEST

/* What is not read is not empty. */
START_TEST(test_unreadable) {
        const struct rlimit none = { 0, 0 };
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        ck_assert_ptr_null(directory_list(directory, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "Too many open files"));
}
END_TEST

TEST_MAIN("base/directory", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_unreadable);
})
