/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/run/environment-files.h"
#include "tests/unit/request/read-words.h"

static char *path;

static void set_path(void) {
        path = g_strdup_printf("%s/keyturn-test-%d.env", g_get_tmp_dir(), (int) getpid());
}

static void remove_file(void) {
        unlink(path);
        g_free(path);
}

static void expect_failure(const char *option, ErrorCode code, const char *message) {
        g_auto(ReadWords) asked = read_words(WORDS("--env=A=1", option, path, "i"));
        g_autoptr(GError) error = NULL;
        EnvironmentFiles files = { 0 };

        ck_assert(!environment_files_read(&asked.request, &files, &error));
        expect_error(error, code, message);
        expect_error(error, code, path);
        environment_files_clear(&files);
}

START_TEST(test_files) {
        g_auto(ReadWords) asked = read_words(WORDS("--env=A=1", "--env-file", path, "--env-file=/dev/null", "i"));
        EnvironmentFiles files = { 0 };

        ck_assert(g_file_set_contents(path, "B=1\n", -1, NULL));
        ck_assert(environment_files_read(&asked.request, &files, NULL));
        ck_assert_str_eq(files.contents[0], "B=1\n");
        ck_assert_str_eq(files.contents[1], "");
        ck_assert_ptr_null(files.contents[2]);
        ck_assert_ptr_null(files.list);
        environment_files_clear(&files);
}
END_TEST

START_TEST(test_bad_files) {
        expect_failure("--env-file", KT_ERROR_NOT_FOUND, "(--env-file): the file is not there: create it");
        ck_assert(g_file_set_contents(path, "A\0B", 3, NULL));
        expect_failure("--env-file", KT_ERROR_FAILED, "EnvironmentFile=");
}
END_TEST

START_TEST(test_list_that_is_late) {
        g_auto(ReadWords) asked = read_words(WORDS("--env-list", path, "i"));
        EnvironmentFiles files = { 0 };
        pid_t pid = fork();

        if (pid == 0) {
                usleep(50000);
                _exit(!g_file_set_contents(path, "LATE=1", 7, NULL));
        }
        ck_assert(environment_files_read(&asked.request, &files, NULL));
        ck_assert_uint_eq(files.list_length, 7);
        ck_assert_str_eq(files.list, "LATE=1");
        environment_files_clear(&files);
}
END_TEST

TEST_MAIN("environment-files", {
        tcase_add_checked_fixture(tcase, set_path, remove_file);
        tcase_add_test(tcase, test_files);
        tcase_add_test(tcase, test_bad_files);
        tcase_add_test(tcase, test_list_that_is_late);
})
