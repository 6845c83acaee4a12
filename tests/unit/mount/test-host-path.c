/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/mount/host-path.h"
#include "libstart/userns/owner.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

/* What lies in volume/ was made by a payload, all else by the administrator. tests/booted/hostile-paths has the
 * attacks; here are the ways that links go. */
static char *directory, *list;
static HostAccess listed;
static const HostAccess unlisted = { 0 };

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
        listed.untrusted_list = list;
}

static void teardown(void) {
        own_tree_remove(directory);
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
                ck_assert(!host_path_read(path, &listed, &content, &length, &error));
                ck_assert_msg(strstr(error->message, expected + 1), "%s: %s", ways[_i].path, error->message);
        } else {
                ck_assert_msg(host_path_read(path, &listed, &content, &length, &error), "%s: %s", ways[_i].path,
                              error ? error->message : "");
                ck_assert_str_eq(content, expected);
                ck_assert_uint_eq(length, strlen(expected));
        }
}
END_TEST

/* Links in /proc lead where only the kernel knows, and their targets are no paths. */
START_TEST(test_proc) {
        g_autofree char *path = g_build_filename(directory, "own/proc", NULL), *content = NULL;
        _cleanup_close_ int fd = host_path_open("/proc/self/ns/mnt", O_PATH, &listed, NULL);
        gsize length;

        ck_assert_int_ge(fd, 0);
        ck_assert(host_path_read(path, &listed, &content, &length, NULL));
        ck_assert_ptr_nonnull(strstr(content, "test-mount-host-path"));
}
END_TEST

/* By hand, without a list, a path is what it is for everybody. */
START_TEST(test_without_list) {
        g_autofree char *path = g_build_filename(directory, "volume/out", NULL), *content = NULL;
        gsize length;

        ck_assert(host_path_read(path, &unlisted, &content, &length, NULL));
        ck_assert_str_eq(content, "secret");
}
END_TEST

static const struct {
        const char *path, *content; /* with a ! before it, the words of an error */
        bool with_list;
} theirs[] = {
        { "theirs", "theirs", false },
        { "theirs", "theirs", true },
        { "own/to-theirs", "theirs", false },
        { "own/to-theirs", "theirs", true },
        { "secret", "!Permission denied", false },
        { "secret", "!Permission denied", true },
        { "own/twice", "!Permission denied", true },
        { "closed/file", "!Permission denied", false },
        { "closed/file", "!Permission denied", true },
        { "own/cwd", "!levels of symbolic links", false },
        { "own/cwd", "!Permission denied", true },
        { "/proc/self/root/proc/self/cmdline", "!levels of symbolic links", false },
        { "/proc/self/root/proc/self/cmdline", "!Permission denied", true },
};

static void read_as(const HostAccess *access, const char *name, const char *expected) {
        g_autofree char *path = name[0] == '/' ? g_strdup(name) : g_build_filename(directory, name, NULL);
        g_autofree char *content = NULL;
        g_autoptr(GError) error = NULL;
        gsize length;

        if (expected[0] != '!') {
                ck_assert_msg(host_path_read(path, access, &content, &length, &error), "%s: %s", name,
                              error ? error->message : "");
                ck_assert_str_eq(content, expected);
                return;
        }
        ck_assert(!host_path_read(path, access, &content, &length, &error));
        ck_assert_msg(strstr(error->message, expected + 1), "%s: %s", name, error->message);
}

/* What a user may not read is not read in the user's name, and root reads as before. */
START_TEST(test_owner) {
        g_auto(Owner) owner = { .identity = { .uid = 4242, .gid = 4242 } };
        HostAccess access = { theirs[_i].with_list ? list : NULL, &owner };

        owner.identity.additional_gids = g_array_new(FALSE, FALSE, sizeof(gid_t));
        g_array_append_val(owner.identity.additional_gids, owner.identity.gid);
        ck_assert_int_eq(chmod(directory, 0755) | mkdir("closed", 0700) | chmod("secret", 0600) | chmod(list, 0600) |
                                 symlink("../theirs", "own/to-theirs") | symlink("/proc/self/cwd/theirs", "own/cwd"),
                         0);
        ck_assert(g_file_set_contents("closed/file", "closed", -1, NULL));
        ck_assert(g_file_set_contents("theirs", "theirs", -1, NULL));
        ck_assert_int_eq(chown("theirs", 4242, 4242) | chmod("theirs", 0600), 0);
        read_as(&access, theirs[_i].path, theirs[_i].content);
        read_as(&unlisted, "closed/file", "closed");
        read_as(&listed, "own/twice", "secret");
}
END_TEST

START_TEST(test_large) {
        g_autofree char *text = g_strnfill(300000, 'x'), *path = g_build_filename(directory, "large", NULL);
        g_autofree char *content = NULL;
        gsize length;

        ck_assert(g_file_set_contents(path, text, -1, NULL));
        ck_assert(host_path_read(path, &listed, &content, &length, NULL));
        ck_assert_str_eq(content, text);
        g_free(g_steal_pointer(&content));
        ck_assert(host_path_read("/proc/self/smaps", &unlisted, &content, &length,
                                 NULL)); /* which says that it is empty */
        ck_assert_uint_gt(length, 4096);
        ck_assert_uint_eq(length, strlen(content));
}
END_TEST

TEST_MAIN("host-path", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_loop_test(tcase, test_ways, 0, G_N_ELEMENTS(ways));
        tcase_add_test(tcase, test_proc);
        tcase_add_test(tcase, test_without_list);
        tcase_add_loop_test(tcase, test_owner, 0, G_N_ELEMENTS(theirs));
        tcase_add_test(tcase, test_large);
})
