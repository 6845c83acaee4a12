/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/mount/host-path.h"
#include "tests/unit/test-main.h"

/* What lies in volume/ was made by a payload, all else by the administrator. tests/booted/hostile-paths has the
 * attacks; here are the ways that links go. */
static char *directory, *list;

static void write_list(void) {
        g_autofree char *text = g_strdup_printf("%s/linked\n%s/none\n%s/a\\nb\n", directory, directory, directory);

        list = g_build_filename(directory, "list", NULL);
        ck_assert(g_file_set_contents(list, text, -1, NULL));
}

static void setup(void) {
        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        ck_assert_int_eq(chdir(directory), 0);
        ck_assert_int_eq(mkdir("volume", 0755) | mkdir("volume/sub", 0755) | mkdir("a\nb", 0755) |
                                 mkdir("own", 0755) | mkdir("own/deep", 0755) | mkdir("sticky", 01777),
                         0);
        ck_assert_int_eq(chmod("sticky", 01777), 0);
        ck_assert(g_file_set_contents("secret", "secret", -1, NULL));
        ck_assert(g_file_set_contents("volume/sub/file", "file", -1, NULL));
        ck_assert_int_eq(symlink("volume", "linked") | symlink("../secret", "volume/out") |
                                 symlink("sub", "volume/in") | symlink("../secret", "a\nb/out") |
                                 symlink("../../volume/../secret", "own/deep/up") | symlink("deep/up", "own/twice") |
                                 symlink("loop", "own/loop") | symlink("../linked/sub/", "own/into") |
                                 symlink("/proc/self/cmdline", "own/proc") | symlink("../secret", "sticky/mine") |
                                 symlink("../secret", "sticky/others"),
                         0);
        ck_assert_int_eq(lchown("sticky/others", 4242, 4242), 0);
        write_list();
}

static void teardown(void) {
        g_autofree char *command = g_strconcat("rm -rf ", directory, NULL);

        ck_assert_int_eq(system(command), 0);
        g_free(directory);
        g_free(list);
}

static const struct {
        const char *path;
        const char *content; /* or, from a '!' on, what is said */
} ways[] = {
        { "secret", "secret" },
        { "volume/sub/file", "file" },
        { "linked/sub/file", "file" },
        { "own/deep/up", "secret" },
        { "own/twice", "secret" },
        { "own/../own/./twice", "secret" },
        { "own/into/file", "file" },
        { "own/into//file", "file" },
        { "sticky/mine", "secret" },
        { "own/loop", "!levels of symbolic links" },
        { "sticky/others", "!Permission denied" },
        { "volume/out", "!is a link, which is not followed" },
        { "volume/in/file", "!is a link, which is not followed" },
        { "linked/out", "!is a link, which is not followed" },
        { "own/into/../out", "!is a link, which is not followed" },
        { "a\nb/out", "!is a link, which is not followed" },
        { "own/none", "!No such file" },
        { "linked/none", "!No such file" },
        { "linked/sub/file/x", "!Not a directory" },
};

START_TEST(test_ways) {
        g_autofree char *path = g_build_filename(directory, ways[_i].path, NULL), *content = NULL;
        const char *expected = ways[_i].content;
        g_autoptr(GError) error = NULL;
        gsize length;

        if (expected[0] == '!') {
                ck_assert(!host_path_read(path, list, &content, &length, &error));
                ck_assert_msg(strstr(error->message, expected + 1), "%s: %s", ways[_i].path, error->message);
        } else {
                ck_assert_msg(host_path_read(path, list, &content, &length, &error), "%s: %s", ways[_i].path,
                              error ? error->message : "");
                ck_assert_str_eq(content, expected);
                ck_assert_uint_eq(length, strlen(expected));
        }
}
END_TEST

/* Links in /proc lead where only the kernel knows, and their targets are no paths. */
START_TEST(test_proc) {
        g_autofree char *path = g_build_filename(directory, "own/proc", NULL), *content = NULL;
        _cleanup_close_ int fd = host_path_open("/proc/self/ns/mnt", O_PATH, list, NULL);
        gsize length;

        ck_assert_int_ge(fd, 0);
        ck_assert(host_path_read(path, list, &content, &length, NULL));
        ck_assert_ptr_nonnull(strstr(content, "test-mount-host-path"));
}
END_TEST

/* By hand, without a list, a path is what it is for everybody. */
START_TEST(test_without_list) {
        g_autofree char *path = g_build_filename(directory, "volume/out", NULL), *content = NULL;
        gsize length;

        ck_assert(host_path_read(path, NULL, &content, &length, NULL));
        ck_assert_str_eq(content, "secret");
}
END_TEST

START_TEST(test_large) {
        g_autofree char *text = g_strnfill(300000, 'x'), *path = g_build_filename(directory, "large", NULL);
        g_autofree char *content = NULL;
        gsize length;

        ck_assert(g_file_set_contents(path, text, -1, NULL));
        ck_assert(host_path_read(path, list, &content, &length, NULL));
        ck_assert_str_eq(content, text);
        g_free(g_steal_pointer(&content));
        ck_assert(
                host_path_read("/proc/self/smaps", NULL, &content, &length, NULL)); /* which says that it is empty */
        ck_assert_uint_gt(length, 4096);
        ck_assert_uint_eq(length, strlen(content));
}
END_TEST

TEST_MAIN("host-path", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, test_ways, 0, G_N_ELEMENTS(ways));
        tcase_add_test(tcase, test_proc);
        tcase_add_test(tcase, test_without_list);
        tcase_add_test(tcase, test_large);
})
