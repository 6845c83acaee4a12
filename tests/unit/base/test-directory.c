/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

START_TEST(test_remove_files) {
        g_autofree char *kept = g_build_filename(directory, "kept", NULL),
                        *other = g_build_filename(directory, "other.x", NULL),
                        *below = g_build_filename(directory, "below", NULL);

        ck_assert(g_file_set_contents(kept, "", -1, NULL) && g_file_set_contents(other, "", -1, NULL));
        ck_assert_int_eq(mkdir(below, 0700), 0);
        ck_assert(directory_remove_files(directory, "kept", NULL));
        ck_assert(access(kept, F_OK) == 0 && access(other, F_OK) < 0 && access(below, F_OK) == 0);
        ck_assert(directory_remove_files(directory, NULL, NULL));
        ck_assert_int_lt(access(kept, F_OK), 0);
        ck_assert_int_eq(rmdir(below), 0);
        ck_assert(directory_remove_files(below, NULL, NULL));
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

static void expect_text(const char *path, const char *expected) {
        g_autofree char *text = NULL;

        ck_assert(g_file_get_contents(path, &text, NULL, NULL));
        ck_assert_str_eq(text, expected);
}

START_TEST(test_write_file) {
        g_autofree char *file = g_build_filename(directory, "web", NULL),
                        *unfinished = g_build_filename(directory, ".new", NULL);
        struct stat st;

        (void) umask(0022);
        ck_assert(g_file_set_contents_full(unfinished, "what a kill has left", -1, 0, 0640, NULL));
        ck_assert(directory_write_file(directory, "web", "one\n", 0640, NULL));
        expect_text(file, "one\n");
        ck_assert(stat(file, &st) == 0 && (st.st_mode & 0777) == 0640);
        ck_assert(directory_write_file(directory, "web", "", 0640, NULL));
        expect_text(file, "");
        ck_assert(access(unfinished, F_OK) < 0 && unlink(file) == 0);
}
END_TEST

/* The lock is that of who has removed the file meanwhile, and then one that nobody has. */
START_TEST(test_replace_file) {
        g_autofree char *file = g_build_filename(directory, "web", NULL),
                        *unfinished = g_build_filename(directory, ".web.new", NULL);
        const struct timespec times[2] = { { 5, 0 }, { 7, 9 } };
        int fd = open(unfinished, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        struct stat st;
        pid_t pid;
        int status;

        ck_assert(write(fd, "what a kill has left", 20) == 20 && flock(fd, LOCK_EX) == 0);
        pid = fork();
        if (pid == 0) {
                close(fd); /* or the lock would be its own, too */
                _exit(!directory_replace_file(file, "new\n", 4, 0644, times, NULL));
        }
        g_usleep(50000);
        ck_assert(access(file, F_OK) < 0 && waitpid(pid, &status, WNOHANG) == 0);
        ck_assert(unlink(unfinished) == 0 && close(fd) == 0);
        ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
        expect_text(file, "new\n");
        ck_assert(stat(file, &st) == 0 && (st.st_mode & 07777) == 0644 && st.st_mtim.tv_sec == 7 &&
                  st.st_mtim.tv_nsec == 9);
        ck_assert(g_file_set_contents(unfinished, "what a kill has left", -1, NULL));
        ck_assert(directory_replace_file(file, "", 0, 0600, NULL, NULL));
        expect_text(file, "");
        ck_assert(access(unfinished, F_OK) < 0 && unlink(file) == 0);
}
END_TEST

START_TEST(test_write_that_fails) {
        g_autofree char *in_the_way = g_build_filename(directory, "web", NULL);
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(mkdir(in_the_way, 0700), 0);
        ck_assert(!directory_write_file(directory, "web", "one\n", 0640, &error));
        ck_assert_ptr_nonnull(strstr(error->message, in_the_way));
        ck_assert(!directory_replace_file(in_the_way, "one\n", 4, 0640, NULL, NULL));
        ck_assert_int_eq(rmdir(in_the_way), 0); /* and nothing else is left */
        g_clear_error(&error);
        ck_assert(!directory_write_file(in_the_way, "web", "", 0640, &error));
        expect_error(error, KT_ERROR_NOT_FOUND, "web/web': No such file");
}
END_TEST

TEST_MAIN("base/directory", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_remove_files);
        tcase_add_test(tcase, test_unreadable);
        tcase_add_test(tcase, test_write_file);
        tcase_add_test(tcase, test_replace_file);
        tcase_add_test(tcase, test_write_that_fails);
})
