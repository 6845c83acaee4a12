/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/mount/mount-tree.h"
#include "tests/unit/fail-call.h"
#include "tests/unit/test-main.h"

/* Of each test a mount namespace of its own, with a tmpfs that is shared on /tmp. */
static void begin(void) {
        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("tmpfs", "/tmp", "tmpfs", 0, NULL), 0);
        ck_assert_int_eq(mount(NULL, "/tmp", NULL, MS_SHARED, NULL), 0);
}

static bool is_shared(const char *path) {
        g_autofree char *mounts = NULL, *line = g_strdup_printf(" %s [^\n]* shared:", path);

        ck_assert(g_file_get_contents("/proc/self/mountinfo", &mounts, NULL, NULL));
        return g_regex_match_simple(line, mounts, 0, 0);
}

/* Of what holds it, and of nothing else, whatever links lead there. */
START_TEST(test_separate) {
        g_autoptr(GError) error = NULL;

        begin();
        ck_assert_int_eq(mkdir("/tmp/a", 0755), 0);
        ck_assert_int_eq(mount("tmpfs", "/tmp/a", "tmpfs", 0, NULL), 0);
        ck_assert_int_eq(mkdir("/tmp/a/b", 0755), 0);
        ck_assert_int_eq(mkdir("/tmp/a/b/c", 0755), 0);
        ck_assert_int_eq(symlink("a/b/c", "/tmp/link"), 0);
        ck_assert(is_shared("/tmp/a"));
        ck_assert(mount_tree_separate("/tmp/link", &error));
        ck_assert(!is_shared("/tmp/a"));
        ck_assert(is_shared("/tmp"));
        ck_assert(!mount_tree_separate("/tmp/no/thing", &error));
        ck_assert_str_eq(error->message,
                         "Cannot find the mount that '/tmp/no/thing' is on: No such file or directory");
}
END_TEST

static int make_root(void) {
        ck_assert_int_eq(mkdir("/tmp/root", 0755), 0);
        ck_assert_int_eq(mount(NULL, "/tmp", NULL, MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("tmpfs", "/tmp/root", "tmpfs", 0, NULL), 0);
        return open("/tmp/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Also where the host has mounts over its "/", below which we are. */
START_TEST(test_enter) {
        struct stat root, now;
        int fd;

        begin();
        fd = make_root();
        ck_assert_int_eq(fstat(fd, &root), 0);
        for (int i = 0; i < _i; i++)
                ck_assert_int_eq(mount("tmpfs", "/", "tmpfs", 0, NULL), 0);
        ck_assert(mount_tree_enter(fd, NULL));
        ck_assert_int_eq(stat("/..", &now), 0);
        ck_assert_uint_eq(now.st_dev, root.st_dev);
        ck_assert_int_eq(stat(".", &now), 0);
        ck_assert_uint_eq(now.st_dev, root.st_dev);
}
END_TEST

/* The host's root would stay on top of the container's. */
START_TEST(test_enter_fails) {
        g_autoptr(GError) error = NULL;
        int fd;

        begin();
        fd = make_root();
        if (!fail_call(SYS_umount2, FAIL_ALL, EINVAL))
                return;
        ck_assert(!mount_tree_enter(fd, &error));
        ck_assert_str_eq(error->message, "Cannot make the container's root its '/': Invalid argument");
}
END_TEST

TEST_MAIN("mount-tree", {
        tcase_add_test(tcase, test_separate);
        tcase_add_loop_test(tcase, test_enter, 0, 3);
        tcase_add_test(tcase, test_enter_fails);
})
