/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/volume/requested-mounts.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/request/read-words.h"

/* Without SELinux, root can label files all the same: to the kernel a label is an attribute like others. */

#define XATTR "security.selinux"
#define OLD "u:object_r:old_t:s0"
#define LABEL "u:object_r:new_t:s0:c1,c2"
#define SHARED "u:object_r:new_t:s0"

/* tree/ is a volume, whose payload is not to be trusted; outside/ is not in it. */
static char *directory;

static void label(const char *path, const char *value) {
        ck_assert_msg(lsetxattr(path, XATTR, value, strlen(value) + 1, 0) == 0, "%s: %m (needs root)", path);
}

static void expect_label(const char *path, const char *expected) {
        char value[256] = "";
        ssize_t n = lgetxattr(path, XATTR, value, sizeof value - 1);

        ck_assert_msg(n > 0, "%s: %m", path);
        ck_assert_msg(g_str_equal(value, expected), "%s is labelled '%s', not '%s'", path, value, expected);
}

static void make_file(const char *path) {
        ck_assert(g_file_set_contents(path, "x", 1, NULL));
        label(path, OLD);
}

static void make_directory(const char *path) {
        ck_assert_int_eq(mkdir(path, 0755), 0);
        label(path, OLD);
}

static void make_link(const char *target, const char *path) {
        ck_assert_int_eq(symlink(target, path), 0);
        label(path, OLD);
}

static void setup(void) {
        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        ck_assert_int_eq(chdir(directory), 0);
        make_directory("outside");
        make_file("outside/secret");
        make_directory("tree");
        make_directory("tree/a");
        make_directory("tree/a/b");
        make_file("tree/file");
        make_file("tree/a/b/file");
}

static void teardown(void) {
        own_tree_remove(directory);
}

/* Of a container with this volume; `options` are those behind the second colon. */
static bool relabel(const char *path, const char *options, GError **error) {
        g_autofree char *volume = path[0] == '/' ? g_strdup_printf("-v%s:/data:%s", path, options) :
                                                   g_strdup_printf("-v%s/%s:/data:%s", directory, path, options);
        g_auto(ReadWords) words = read_words(WORDS(volume, "i"));

        return requested_mounts_relabel(&words.request, NULL, LABEL, NULL, error);
}

static void expect_relabelled(const char *path, const char *options) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(relabel(path, options, &error), "%s", error ? error->message : "");
}

START_TEST(test_whole_tree) {
        static const char *const paths[] = { "tree", "tree/a", "tree/a/b", "tree/file", "tree/a/b/file" };

        expect_relabelled("tree", _i ? "z" : "Z");
        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
                expect_label(paths[i], _i ? SHARED : LABEL);
        expect_label("outside/secret", OLD);
}
END_TEST

START_TEST(test_one_file) {
        expect_relabelled("tree/file", "Z");
        expect_label("tree/file", LABEL);
        expect_label("tree", OLD);
}
END_TEST

/* Also without a label there is nothing to do. */
START_TEST(test_not_asked_for) {
        g_auto(ReadWords) words = read_words(WORDS("-v/:/data", "--tmpfs=/x", "i"));
        g_auto(ReadWords) private = read_words(WORDS("-v/:/data:Z", "i"));

        ck_assert(requested_mounts_relabel(&words.request, NULL, LABEL, NULL, NULL));
        ck_assert(requested_mounts_relabel(&private.request, NULL, NULL, NULL, NULL));
}
END_TEST

/* The label of the tree itself says that all in it has been labelled. */
START_TEST(test_not_twice) {
        expect_relabelled("tree", "Z");
        label("tree/file", OLD);
        expect_relabelled("tree", "Z");
        expect_label("tree/file", OLD);
        label("tree", OLD);
        expect_relabelled("tree", "Z");
        expect_label("tree/file", LABEL);
}
END_TEST

/* Itself is last: after a start that was interrupted the next one goes on. */
START_TEST(test_interrupted) {
        label("tree/a/b/file", LABEL);
        label("tree/a/b", LABEL);
        label("tree/a", LABEL);
        expect_relabelled("tree", "Z");
        expect_label("tree/file", LABEL);
}
END_TEST

START_TEST(test_links) {
        make_link("../outside/secret", "tree/to-file");
        make_link("../outside", "tree/to-directory");
        make_link("/", "tree/a/to-root");
        make_link("nowhere", "tree/dangling");
        make_link(".", "tree/a/loop");
        expect_relabelled("tree", "Z");
        expect_label("outside/secret", OLD);
        expect_label("outside", OLD);
        expect_label("tree/to-file", LABEL);
        expect_label("tree/to-directory", LABEL);
        expect_label("tree/a/to-root", LABEL);
        expect_label("tree/dangling", LABEL);
}
END_TEST

START_TEST(test_special_files) {
        ck_assert_int_eq(mkfifo("tree/fifo", 0644), 0);
        ck_assert_int_eq(mknod("tree/socket", S_IFSOCK | 0644, 0), 0);
        expect_relabelled("tree", "Z");
        expect_label("tree/fifo", LABEL);
        expect_label("tree/socket", LABEL);
}
END_TEST

START_TEST(test_hard_links) {
        ck_assert_int_eq(link("tree/file", "tree/a/second"), 0);
        ck_assert_int_eq(link("tree/file", "tree/a/b/third"), 0);
        ck_assert_int_eq(link("outside/secret", "tree/secret"), 0);
        ck_assert_int_eq(link("outside/secret", "tree/a/secret"), 0);
        expect_relabelled("tree", "Z");
        expect_label("tree/file", LABEL);
        expect_label("outside/secret", OLD);
}
END_TEST

START_TEST(test_one_file_with_two_names) {
        ck_assert_int_eq(link("outside/secret", "tree/secret"), 0);
        expect_relabelled("tree/secret", "Z");
        expect_label("outside/secret", OLD);
}
END_TEST

/* While somebody exchanges a directory and a link to the other directory, all the time. */
START_TEST(test_exchanged) {
        pid_t child;
        int status;

        make_link("../../outside", "tree/a/trap");
        child = fork();
        if (child == 0)
                for (;;)
                        (void) !renameat2(AT_FDCWD, "tree/a/b", AT_FDCWD, "tree/a/trap", RENAME_EXCHANGE);
        for (int i = 0; i < 200; i++) {
                label("tree", OLD);
                label("tree/a", OLD);
                expect_relabelled("tree", i % 2 ? "z" : "Z");
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        expect_label("outside/secret", OLD);
        expect_label("outside", OLD);
}
END_TEST

/* Deeper than there are descriptors, and names longer than a path may be. */
START_TEST(test_deep) {
        ck_assert_int_eq(chdir("tree"), 0);
        for (int i = 0; i < 1200; i++)
                ck_assert(mkdir("directory", 0755) == 0 && chdir("directory") == 0);
        make_file("last");
        expect_relabelled(directory, "Z");
        expect_label("last", LABEL);
        expect_label(".", LABEL);
        ck_assert_int_eq(chdir(directory), 0);
        expect_label("tree", LABEL);
        expect_label("tree/a/b/file", LABEL);
}
END_TEST

START_TEST(test_the_systems) {
        static const char *const paths[] = { "/", "/etc", "/usr", "/home", "/bin", "tree/etc", "tree/bin" };
        g_autoptr(GError) error = NULL;

        make_link("/etc", "tree/etc");
        make_link("/usr/bin", "tree/bin");
        ck_assert(!relabel(paths[_i], "z", &error));
        expect_error(error, KT_ERROR_UNSUPPORTED, "is a directory or file of the system's");
}
END_TEST

START_TEST(test_missing) {
        g_autoptr(GError) error = NULL;

        ck_assert(!relabel("nothing", "z", &error));
        expect_error(error, KT_ERROR_NOT_FOUND, "Cannot relabel");
}
END_TEST

TEST_MAIN("relabel", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_whole_tree, 0, 2);
        tcase_add_test(tcase, test_one_file);
        tcase_add_test(tcase, test_not_asked_for);
        tcase_add_test(tcase, test_not_twice);
        tcase_add_test(tcase, test_interrupted);
        tcase_add_test(tcase, test_links);
        tcase_add_test(tcase, test_special_files);
        tcase_add_test(tcase, test_hard_links);
        tcase_add_test(tcase, test_one_file_with_two_names);
        tcase_add_test(tcase, test_exchanged);
        tcase_add_test(tcase, test_deep);
        tcase_add_loop_test(tcase, test_the_systems, 0, 7);
        tcase_add_test(tcase, test_missing);
})
