/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/mount/root-file.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

/* An image that is not to be trusted: outside/secret must never be read nor written through root/. */
static char *directory;
static int root_fd;

static void setup(void) {
        g_autofree char *root = NULL;

        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        ck_assert_int_eq(chdir(directory), 0);
        ck_assert_int_eq(mkdir("root", 0755) | mkdir("root/etc", 0755) | mkdir("outside", 0755), 0);
        ck_assert(g_file_set_contents("outside/secret", "secret", -1, NULL));
        ck_assert(g_file_set_contents("root/etc/passwd", "root:x:0:0::/:\n", -1, NULL));
        root = g_strconcat(directory, "/outside/secret", NULL);
        ck_assert_int_eq(symlink(root, "root/etc/absolute"), 0);
        ck_assert_int_eq(symlink("../../outside/secret", "root/etc/relative"), 0);
        ck_assert_int_eq(symlink("/etc/passwd", "root/etc/inside"), 0);
        ck_assert_int_eq(symlink("/proc/self/exe", "root/etc/magic"), 0);
        ck_assert_int_eq(mkfifo("root/etc/fifo", 0644), 0);
        ck_assert_int_eq(mknod("root/etc/socket", S_IFSOCK | 0644, 0), 0);
        root_fd = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(root_fd, 0);
}

static void teardown(void) {
        close(root_fd);
        own_tree_remove(directory);
}

static const struct {
        const char *path;
        bool ok;
        const char *content;
} reads[] = {
        { "etc/passwd", true, "root:x:0:0::/:\n" },
        { "etc/inside", true, "root:x:0:0::/:\n" },
        { "../../etc/passwd", true, "root:x:0:0::/:\n" },
        { "etc/none", true, NULL },
        { "etc/passwd/x", true, NULL },
        { "etc/absolute", true, NULL },
        { "etc/relative", true, NULL },
        { "etc/magic", true, NULL },
        { "etc/fifo", false, NULL },
        { "etc/socket", false, NULL },
        { "etc", false, NULL },
};

START_TEST(test_read) {
        g_autoptr(GError) error = NULL;
        g_autofree char *content = NULL;
        bool ok = root_file_read(root_fd, reads[_i].path, &content, &error);

        ck_assert_int_eq(ok, reads[_i].ok);
        ck_assert_int_eq(error != NULL, !reads[_i].ok);
        if (error)
                ck_assert_msg(strstr(error->message, "is not a regular file"), "%s", error->message);
        ck_assert_pstr_eq(content, reads[_i].content);
}
END_TEST

START_TEST(test_write_stays_inside) {
        g_autofree char *content = NULL;

        ck_assert(root_file_write(root_fd, "etc/passwd", "new", NULL));
        root_file_write(root_fd, "etc/absolute", "broken", NULL);
        root_file_write(root_fd, "etc/relative", "broken", NULL);
        ck_assert(g_file_get_contents("outside/secret", &content, NULL, NULL));
        ck_assert_str_eq(content, "secret");
        g_free(content);
        ck_assert(g_file_get_contents("root/etc/passwd", &content, NULL, NULL));
        ck_assert_str_eq(content, "new");
}
END_TEST

START_TEST(test_make_directory) {
        struct stat st;

        ck_assert(root_file_make_directory(root_fd, "/a/b/c", 7, 8, NULL));
        ck_assert_int_eq(stat("root/a/b/c", &st), 0);
        ck_assert_int_eq(st.st_uid, 7);
        ck_assert_int_eq(st.st_gid, 8);
        ck_assert_int_eq(stat("root/a/b", &st), 0);
        ck_assert_int_eq(st.st_uid, 0);
        ck_assert(root_file_make_directory(root_fd, "/a/b/c", 9, 9, NULL)); /* there already */
        ck_assert_int_eq(stat("root/a/b/c", &st), 0);
        ck_assert_int_eq(st.st_uid, 7);
        ck_assert(!root_file_make_directory(root_fd, "/etc/passwd/x", 0, 0, NULL));
        ck_assert_int_ne(stat("outside/x", &st), 0);
}
END_TEST

/* Links lead nowhere but into the root, also when what they point to is to be made. */
START_TEST(test_mount_point) {
        static const struct {
                const char *path;
                bool directory, ok;
                const char *made;
        } table[] = {
                { "etc/passwd", false, true, "root/etc/passwd" },      { "new/file", false, true, "root/new/file" },
                { "new/directory", true, true, "root/new/directory" }, { "etc/inside/x", false, false, NULL },
                { "../../etc/up", false, true, "root/etc/up" },
        };
        int file = open("/dev/null", O_PATH | O_CLOEXEC);
        struct stat st;

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                int source = table[i].directory ? root_fd : file;
                int fd = root_file_open_mount_point(root_fd, table[i].path, source, NULL);

                ck_assert_int_eq(fd >= 0, table[i].ok);
                if (table[i].made) {
                        ck_assert_int_eq(stat(table[i].made, &st), 0);
                        ck_assert_int_eq(S_ISDIR(st.st_mode) != 0, table[i].directory);
                        close(fd);
                }
        }
        ck_assert_int_eq(symlink("/../../outside/made", "root/etc/dangling"), 0);
        ck_assert_int_ge(root_file_open_mount_point(root_fd, "etc/dangling/deeper", root_fd, NULL), -1);
        ck_assert_int_ge(root_file_open_mount_point(root_fd, "etc/dangling", file, NULL), -1);
        ck_assert_int_ne(stat("outside/made", &st), 0);
        close(file);
}
END_TEST

TEST_MAIN("root-file", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, test_read, 0, G_N_ELEMENTS(reads));
        tcase_add_test(tcase, test_write_stays_inside);
        tcase_add_test(tcase, test_make_directory);
        tcase_add_test(tcase, test_mount_point);
})
