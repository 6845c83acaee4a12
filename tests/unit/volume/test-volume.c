/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/value/id-map.h"
#include "libstart/volume/tree-copy.h"
#include "libstart/volume/volume.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/fail-call.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

#ifndef SYS_fchown32 /* of machines with 32 bits */
# define SYS_fchown32 SYS_fchown
#endif

/* A directory with a volume, "v", and a container's root with a directory "d". */
static char *top;

static char *below(const char *path) {
        return g_build_filename(top, path, NULL);
}

static void expect(const char *path, const char *text) {
        g_autofree char *full = below(path), *found = NULL;

        g_file_get_contents(full, &found, NULL, NULL);
        ck_assert_pstr_eq(found, text);
}

static void setup(void) {
        top = g_dir_make_tmp("keyturn-volume-XXXXXX", NULL);
        ck_assert_ptr_nonnull(top);
        own_tree_put(top, "root/d/file", "content");
        own_tree_put(top, "root/d/sub/other", "more");
}

static void teardown(void) {
        ck_assert(tree_remove(AT_FDCWD, top, NULL));
        g_free(top);
}

static bool use_as(uid_t uid, bool is_read_only, const char *destination, bool no_copy) {
        g_autofree char *root = below("root"), *volumes = below("volumes");
        _cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY), volume = volume_open(volumes, "v", NULL);
        const UserIdentity user = { .uid = uid, .gid = uid };
        const VolumeUse how = { .root_fd = root_fd,
                                .destination = destination,
                                .no_copy = no_copy,
                                .is_read_only = is_read_only,
                                .user = &user };

        return volume >= 0 && volume_use(volume, "v", &how, NULL);
}

static bool use(const char *destination, bool no_copy) {
        return use_as(0, false, destination, no_copy);
}

START_TEST(test_first_use_copies) {
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", "content");
        expect("volumes/v/_data/sub/other", "more");
        expect("volumes/v/.keyturn-used", "");
        own_tree_put(top, "volumes/v/_data/file", "changed");
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", "changed");
}
END_TEST

START_TEST(test_used_once) {
        ck_assert(use("not/there", false));
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", NULL);
}
END_TEST

/* A reader has changed nothing: who comes next is not kept out. */
START_TEST(test_new_after_a_reader) {
        g_autofree char *data = below("volumes/v/_data");
        struct stat st;

        ck_assert(use_as(0, true, "not/there", false));
        expect("volumes/v/.keyturn-used", NULL);
        ck_assert(use_as(7, false, "not/there", false));
        ck_assert_int_eq(stat(data, &st), 0);
        ck_assert_uint_eq(st.st_uid, 7);
        expect("volumes/v/.keyturn-used", "");
        ck_assert(use_as(8, false, "not/there", false));
        ck_assert_int_eq(stat(data, &st), 0);
        ck_assert_uint_eq(st.st_uid, 7);
}
END_TEST

/* Whether the image has something there cannot be told: that is no first use. */
START_TEST(test_not_told) {
        char name[NAME_MAX + 2];

        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        ck_assert(!use(name, false));
        expect("volumes/v/.keyturn-used", NULL);
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", "content");
}
END_TEST

/* Wherever it was interrupted, the next one gives it owner and mode. */
static const long owner_calls[] = { SYS_fchmod, SYS_fchown32 };

START_TEST(test_owner_after_a_failure) {
        g_autofree char *from = below("root/d"), *data = below("volumes/v/_data");
        struct stat st;
        pid_t child;
        int status;

        ck_assert_int_eq(chown(from, 5, 6), 0);
        ck_assert_int_eq(chmod(from, 02750), 0);
        child = fork();
        if (child == 0)
                _exit(fail_call(owner_calls[_i], FAIL_ALL, EIO) && use("d", true));
        ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        expect("volumes/v/.keyturn-used", NULL);
        ck_assert(use("d", true));
        ck_assert_int_eq(stat(data, &st), 0);
        ck_assert_uint_eq(st.st_uid, 5);
        ck_assert_uint_eq(st.st_gid, 6);
        ck_assert_uint_eq(st.st_mode & 07777, 02750);
}
END_TEST

START_TEST(test_no_copy) {
        ck_assert(use("d", true));
        expect("volumes/v/_data/file", NULL);
}
END_TEST

START_TEST(test_not_empty) {
        own_tree_put(top, "volumes/v/_data/mine", "x");
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", NULL);
        expect("volumes/v/_data/mine", "x");
}
END_TEST

/* A Device= is another disk: what is noted beside it is on it before. */
START_TEST(test_noted_when_written) {
        g_autofree char *data = below("volumes/v/_data");
        pid_t child;
        int status;

        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(g_mkdir_with_parents(data, 0755), 0);
        ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("none", data, "tmpfs", 0, "mode=0755"), 0);
        child = fork();
        if (child == 0)
                _exit(fail_call(SYS_syncfs, FAIL_ALL, EIO) && use("d", /* no_copy= */ true));
        ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        expect("volumes/v/.keyturn-used", NULL);
        ck_assert(use("d", false));
        expect("volumes/v/.keyturn-used", "");
        ck_assert_int_eq(umount(data), 0);
}
END_TEST

/* As a Device= with the option ro. */
START_TEST(test_read_only) {
        g_autofree char *data = below("volumes/v/_data");

        ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
        ck_assert_int_eq(g_mkdir_with_parents(data, 0755), 0);
        ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        ck_assert_int_eq(mount("none", data, "tmpfs", MS_RDONLY, "mode=0755"), 0);
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", NULL);
        expect("volumes/v/.keyturn-used", NULL);
        ck_assert_int_eq(umount(data), 0);
}
END_TEST

/* Whatever an interrupted start has left, all is there after the next, and nothing else. */
static const struct {
        const char *left, *text;
        const char *file, *other;
} interrupted[] = {
        { "volumes/v/_data/.keyturn-copying/file", "half", "content", "more" },
        { "volumes/v/_data/.keyturn-copying", "no directory", "content", "more" },
        { "volumes/v/_data/.keyturn-copied/file", "moved", "moved", NULL },
        { "volumes/v/_data/.keyturn-copied", "somebody's", NULL, NULL },
};

START_TEST(test_interrupted) {
        own_tree_put(top, interrupted[_i].left, interrupted[_i].text);
        ck_assert(use("d", false));
        expect("volumes/v/_data/file", interrupted[_i].file);
        expect("volumes/v/_data/sub/other", interrupted[_i].other);
        expect("volumes/v/_data/.keyturn-copying/file", NULL);
        expect("volumes/v/_data/.keyturn-copied/file", NULL);
}
END_TEST

/* Links, holes, several names, times and modes. */
START_TEST(test_copy) {
        g_autofree char *file = below("root/d/file"), *hard = below("root/d/hard"), *link = below("root/d/link"),
                        *hole = below("root/d/hole"), *fifo = below("root/d/fifo"), *to = below("to");
        g_autofree char *from = below("root/d"), *copied = below("to/file"), *copied_hard = below("to/hard"),
                        *copied_link = below("to/link"), *copied_hole = below("to/hole"), *target = NULL;
        const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
        struct stat st, other;
        bool empty;

        ck_assert_int_eq(linkat(AT_FDCWD, file, AT_FDCWD, hard, 0), 0);
        ck_assert_int_eq(symlink("/etc/passwd", link), 0);
        ck_assert_int_eq(mkfifo(fifo, 0600), 0);
        ck_assert(g_file_set_contents(hole, "", 0, NULL));
        ck_assert_int_eq(truncate(hole, 1 << 30), 0);
        ck_assert_int_eq(chmod(file, 0640), 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, file, times, 0), 0);
        ck_assert_int_eq(mkdir(to, 0700), 0);
        _cleanup_close_ int in = open(from, O_RDONLY | O_DIRECTORY), out = open(to, O_RDONLY | O_DIRECTORY);
        ck_assert(tree_look(out, &empty));
        ck_assert(empty);
        ck_assert(tree_copy(in, out, NULL, NULL, NULL));
        ck_assert(tree_look(out, &empty));
        ck_assert(!empty);
        ck_assert_int_eq(stat(copied, &st), 0);
        ck_assert_int_eq(stat(copied_hard, &other), 0);
        ck_assert_int_eq((int) (st.st_ino == other.st_ino), 1);
        ck_assert_int_eq(st.st_mode & 07777, 0640);
        ck_assert_int_eq(st.st_mtim.tv_sec, 3);
        target = g_file_read_link(copied_link, NULL);
        ck_assert_str_eq(target, "/etc/passwd");
        ck_assert_int_eq(stat(copied_hole, &st), 0);
        ck_assert_int_eq(st.st_size, 1 << 30);
        ck_assert_int_lt(st.st_blocks, 1000);
}
END_TEST

static bool copy_below(const char *name, GError **error) {
        g_autofree char *from = below("root/d"), *to = below(name);

        ck_assert_int_eq(mkdir(to, 0700), 0);
        _cleanup_close_ int in = open(from, O_RDONLY | O_DIRECTORY), out = open(to, O_RDONLY | O_DIRECTORY);
        return tree_copy(in, out, NULL, NULL, error);
}

/* Another name of a file, so deep that no path leads there: it is missing, and that is said. */
START_TEST(test_link_that_fails) {
        g_autofree char *root = below("root/d"), *component = g_strnfill(250, 'd');
        int fd = open(root, O_RDONLY | O_DIRECTORY);
        g_autoptr(GError) error = NULL;

        for (size_t depth = 0; depth < PATH_MAX / 250 + 1; depth++) {
                _cleanup_close_ int parent = fd;

                ck_assert_int_eq(mkdirat(parent, component, 0755), 0);
                fd = openat(parent, component, O_RDONLY | O_DIRECTORY);
        }
        ck_assert_int_eq(mknodat(fd, "first", S_IFREG | 0644, 0), 0);
        ck_assert(copy_below("one", NULL));
        ck_assert_int_eq(linkat(fd, "first", fd, "second", 0), 0);
        fd_close(&fd);
        ck_assert(!copy_below("both", &error));
        expect_error(error, KT_ERROR_FAILED, "File name too long");
}
END_TEST

/* Where a file system has no links there are two files. */
START_TEST(test_no_links) {
        g_autofree char *file = below("root/d/file"), *hard = below("root/d/hard");

        ck_assert_int_eq(link(file, hard), 0);
        if (!fail_call(SYS_linkat, FAIL_ALL, EPERM))
                return;
        ck_assert(copy_below("to", NULL));
        expect("to/file", "content");
        expect("to/hard", "content");
}
END_TEST

/* What cannot be had counts as nothing only where it is that. */
static const struct {
        long call;
        int errnum;
        bool copied;
} attribute_calls[] = {
        { SYS_flistxattr, ENOMEM, false }, { SYS_flistxattr, ENOTSUP, true }, { SYS_fgetxattr, EIO, false },
        { SYS_fgetxattr, ENODATA, true },  { SYS_fsetxattr, ENOSPC, true },   { SYS_fsetxattr, EIO, false },
        { SYS_fsetxattr, ENOTSUP, true },
};

START_TEST(test_attributes) {
        g_autofree char *file = below("root/d/file"), *copied = below("to/file");
        char value[2000] = "", found[2001];

        ck_assert_msg(setxattr(file, "user.keyturn", value, sizeof value, 0) == 0,
                      "no attributes here: set TMPDIR to a file system that has them");
        ck_assert(copy_below("to", NULL));
        ck_assert_int_eq(getxattr(copied, "user.keyturn", found, sizeof found), sizeof value);
        if (fail_call(attribute_calls[_i].call, FAIL_ALL, attribute_calls[_i].errnum))
                ck_assert_int_eq(copy_below("other", NULL), attribute_calls[_i].copied);
}
END_TEST

static bool copy_known(guint32 uid, guint32 gid, const char *name, GError **error) {
        const IdExtent users[] = { { 0, uid, 1 }, { 1, 4000000, 3 } }, groups[] = { { 0, gid, 1 } };
        g_autoptr(GArray) uids = id_map_new(), gids = id_map_new();
        g_autofree char *from = below("root/d"), *to = below(name);

        g_array_append_vals(uids, users, 2);
        g_array_append_vals(gids, groups, 1);
        ck_assert_int_eq(mkdir(to, 0700), 0);
        _cleanup_close_ int in = open(from, O_RDONLY | O_DIRECTORY), out = open(to, O_RDONLY | O_DIRECTORY);
        return tree_copy(in, out, uids, gids, error);
}

/* Others' stay where they are: the first is named. */
START_TEST(test_copy_known) {
        g_autofree char *file = below("root/d/file"), *copied = below("b/sub/other");
        struct stat st;
        g_autoptr(GError) user = NULL, group = NULL;

        ck_assert(copy_known(getuid(), getgid(), "a", NULL));
        expect("a/file", "content");
        expect("a/sub/other", "more");
        ck_assert_int_eq(unlink(file), 0);
        ck_assert(!copy_known(getuid() + 1, getgid(), "b", &user));
        expect_error(user, KT_ERROR_USAGE, "'sub/other' in the image's directory belongs to the user");
        ck_assert_int_eq(stat(copied, &st), 0); /* begun, and nobody's else */
        ck_assert_int_eq(st.st_mode & 07777, 0600);
        ck_assert(!copy_known(getuid(), getgid() + 1, "c", &group));
        expect_error(group, KT_ERROR_USAGE, "'sub/other' in the image's directory belongs to the group");
}
END_TEST

TEST_MAIN("volume", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_first_use_copies);
        tcase_add_test(tcase, test_used_once);
        tcase_add_test(tcase, test_new_after_a_reader);
        tcase_add_test(tcase, test_not_told);
        tcase_add_loop_test(tcase, test_owner_after_a_failure, 0, G_N_ELEMENTS(owner_calls));
        tcase_add_test(tcase, test_no_copy);
        tcase_add_test(tcase, test_not_empty);
        tcase_add_test(tcase, test_noted_when_written);
        tcase_add_test(tcase, test_read_only);
        tcase_add_loop_test(tcase, test_interrupted, 0, G_N_ELEMENTS(interrupted));
        tcase_add_test(tcase, test_copy);
        tcase_add_test(tcase, test_link_that_fails);
        tcase_add_test(tcase, test_no_links);
        tcase_add_loop_test(tcase, test_attributes, 0, G_N_ELEMENTS(attribute_calls));
        tcase_add_test(tcase, test_copy_known);
})
