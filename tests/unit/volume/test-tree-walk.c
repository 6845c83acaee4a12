/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/volume/tree-walk.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

#define DEPTH 100 /* more than are open at a time */

/* tree/ has directories 0, 1, ... in each other, each with files a and z beside the next; outside/ has a secret. */
static char *directory;
static int levels[DEPTH + 1]; /* open on tree, on 0 in it, and so on */

static void make_file(int at, const char *name) {
        _cleanup_close_ int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
}

static int make_directory(int at, const char *name) {
        int fd;

        ck_assert_int_eq(mkdirat(at, name, 0700), 0);
        fd = openat(at, name, O_PATH | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        return fd;
}

static void name_level(int level, char name[16]) {
        g_snprintf(name, 16, "%d", level);
}

static void setup(void) {
        int at;

        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        ck_assert_int_eq(chdir(directory), 0);
        close(make_directory(AT_FDCWD, "outside"));
        ck_assert_int_eq(symlink("../outside", "outside/link"), 0);
        ck_assert(g_file_set_contents("outside/secret", "x", 1, NULL));
        at = make_directory(AT_FDCWD, "tree");
        for (int i = 0; i <= DEPTH; i++) {
                char name[16];
                int next;

                name_level(i, name);
                make_file(at, "a");
                next = make_directory(at, name);
                make_file(at, "z");
                levels[i] = at;
                at = next;
        }
        close(at);
}

static void teardown(void) {
        fds_close(levels, G_N_ELEMENTS(levels));
        ck_assert_int_eq(chdir("/"), 0);
        own_tree_remove(directory);
}

/* What a walk has seen, and what is done to the tree while it does. */
typedef struct Seen {
        guint n_tops, n_files, n_directories, n_left, n_secrets;
        int level;                      /* on seeing this directory ... */
        void (*attack)(void);           /* ... this is done */
        guint n_attacks, n_attacks_max; /* so often */
} Seen;

static bool see(int fd, const struct statx *st, const char *name, void *data, GError **error) {
        Seen *seen = data;
        char attacked[16];

        name_level(seen->level, attacked);
        if (g_str_equal(name, "."))
                *seen = (Seen) { .n_tops = seen->n_tops + 1,
                                 .level = seen->level,
                                 .attack = seen->attack,
                                 .n_attacks = seen->n_attacks,
                                 .n_attacks_max = seen->n_attacks_max };
        else if (S_ISDIR(st->stx_mode))
                seen->n_directories++;
        else
                seen->n_files++;
        seen->n_secrets += g_str_equal(name, "secret");
        if (seen->attack && g_str_equal(name, attacked) && seen->n_attacks < seen->n_attacks_max) {
                seen->n_attacks++;
                seen->attack();
        }
        return true;
}

static bool count_left(int fd, void *data, GError **error) {
        Seen *seen = data;

        seen->n_left++;
        return true;
}

static bool walk(Seen *seen, GError **error) {
        const TreeVisitor visitor = { .visit = see, .leave = count_left, .data = seen };
        _cleanup_close_ int fd = open("tree", O_PATH | O_CLOEXEC);

        return tree_walk(fd, &visitor, error);
}

static void check_whole(Seen seen, guint n_tops, guint n_directories) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(walk(&seen, &error), "%s", error ? error->message : "");
        ck_assert_uint_eq(seen.n_tops, n_tops);
        ck_assert_uint_eq(seen.n_directories, n_directories);
        ck_assert_uint_eq(seen.n_left, n_directories + 1);
        ck_assert_uint_eq(seen.n_secrets, 0);
}

/* Each once. */
START_TEST(test_deep) {
        Seen seen = { 0 };

        ck_assert(walk(&seen, NULL));
        ck_assert_uint_eq(seen.n_tops, 1);
        ck_assert_uint_eq(seen.n_files, 2 * (DEPTH + 1));
        ck_assert_uint_eq(seen.n_directories, DEPTH + 1);
        ck_assert_uint_eq(seen.n_left, DEPTH + 2);
}
END_TEST

/* A directory with many others, far above, is gone on with where it was left. */
START_TEST(test_wide) {
        enum { WIDE = 1000 };
        Seen seen = { 0 };

        for (int i = 0; i < WIDE; i++) {
                g_autofree char *name = g_strdup_printf("%c-a-name-that-is-longer-%d", i % 2 ? 'a' : 'z', i);
                int at = dup(levels[2]);

                for (int j = 0; j < (i % 100 == 0 ? 40 : 1); j++) {
                        int next = make_directory(at, name);

                        close(at);
                        at = next;
                }
                close(at);
        }
        ck_assert(walk(&seen, NULL));
        ck_assert_uint_eq(seen.n_tops, 1);
        ck_assert_uint_eq(seen.n_files, 2 * (DEPTH + 1));
        ck_assert_uint_eq(seen.n_directories, DEPTH + 1 + WIDE + 39 * WIDE / 100);
}
END_TEST

/* From far above where the walk is: ".." is not in the tree then. */
static void move_out(void) {
        _cleanup_close_ int outside = open("outside", O_PATH | O_CLOEXEC);
        char name[16];

        name_level(50, name);
        ck_assert_int_eq(renameat(levels[50], name, outside, name), 0);
}

START_TEST(test_moved_out) {
        check_whole((Seen) { .level = DEPTH - 5, .attack = move_out, .n_attacks_max = 1 }, 2, 50);
}
END_TEST

static void move_out_the_last(void) {
        char name[16];

        name_level(DEPTH - 3, name);
        ck_assert_int_eq(renameat(levels[DEPTH - 3], name, AT_FDCWD, "outside/moved"), 0);
}

/* The directory it was in is still open: nothing of it is missed, and the walk does not begin anew. */
START_TEST(test_moved_out_beside) {
        check_whole((Seen) { .level = DEPTH - 2, .attack = move_out_the_last, .n_attacks_max = 1 }, 1, DEPTH + 1);
}
END_TEST

/* Another one is in its place, with the same name and perhaps the same inode. */
static void replace(void) {
        char name[16], below[16];

        name_level(50, name);
        name_level(51, below);
        ck_assert_int_eq(renameat(levels[51], below, AT_FDCWD, "outside/moved"), 0);
        ck_assert_int_eq(unlinkat(levels[51], "a", 0), 0);
        ck_assert_int_eq(unlinkat(levels[51], "z", 0), 0);
        fd_close(&levels[51]);
        ck_assert_int_eq(unlinkat(levels[50], name, AT_REMOVEDIR), 0);
        levels[51] = make_directory(levels[50], name);
        ck_assert_int_eq(renameat(AT_FDCWD, "outside/moved", levels[51], below), 0);
}

START_TEST(test_replaced) {
        check_whole((Seen) { .level = DEPTH - 5, .attack = replace, .n_attacks_max = 1 }, 2, DEPTH + 1);
}
END_TEST

/* What was entered is not there any more. */
static void rename_entry(void) {
        static bool again;
        char name[16];

        name_level(50, name);
        ck_assert_int_eq(renameat(levels[50], again ? "other" : name, levels[50], again ? name : "other"), 0);
        again = !again;
}

START_TEST(test_renamed) {
        check_whole((Seen) { .level = DEPTH - 5, .attack = rename_entry, .n_attacks_max = 9 }, 10, DEPTH + 1);
}
END_TEST

START_TEST(test_renamed_all_the_time) {
        Seen seen = { .level = DEPTH - 5, .attack = rename_entry, .n_attacks_max = G_MAXUINT };
        g_autoptr(GError) error = NULL;

        ck_assert(!walk(&seen, &error));
        expect_error(error, KT_ERROR_FAILED, "directories in it are moved all the time");
        ck_assert_uint_eq(seen.n_tops, 10);
}
END_TEST

static void put_link(void) {
        char name[16];

        name_level(50, name);
        move_out();
        ck_assert_int_eq(symlinkat("../outside", levels[50], name), 0);
        ck_assert_int_eq(symlinkat(directory, levels[50], "absolute"), 0);
}

START_TEST(test_exchanged_for_a_link) {
        check_whole((Seen) { .level = DEPTH - 5, .attack = put_link, .n_attacks_max = 1 }, 2, 50);
}
END_TEST

/* All that the walk is in, from below; it was only not seen yet. */
static void remove_below(void) {
        for (int i = DEPTH; i >= DEPTH - 8; i--) {
                char name[16];

                name_level(i, name);
                ck_assert_int_eq(unlinkat(levels[i], name, AT_REMOVEDIR), 0);
                ck_assert_int_eq(unlinkat(levels[i], "a", 0), 0);
                ck_assert_int_eq(unlinkat(levels[i], "z", 0), 0);
        }
}

START_TEST(test_removed) {
        check_whole((Seen) { .level = DEPTH - 6, .attack = remove_below, .n_attacks_max = 1 }, 1, DEPTH - 5);
}
END_TEST

/* A file may be what is walked through, and a visitor that fails ends it. */
START_TEST(test_file) {
        _cleanup_close_ int fd = open("outside/secret", O_PATH | O_CLOEXEC);
        Seen seen = { 0 };
        const TreeVisitor visitor = { .visit = see, .leave = count_left, .data = &seen };

        ck_assert(tree_walk(fd, &visitor, NULL));
        ck_assert_uint_eq(seen.n_tops, 1);
        ck_assert_uint_eq(seen.n_left, 0);
}
END_TEST

static bool fail_at_40(int fd, const struct statx *st, const char *name, void *data, GError **error) {
        return !g_str_equal(name, "40") || error_set(error, KT_ERROR_USAGE, "it is '%s'", name);
}

START_TEST(test_visitor_fails) {
        const TreeVisitor visitor = { .visit = fail_at_40 };
        _cleanup_close_ int fd = open("tree", O_PATH | O_CLOEXEC);
        g_autoptr(GError) error = NULL;

        ck_assert(!tree_walk(fd, &visitor, &error));
        expect_error(error, KT_ERROR_USAGE, "it is '40'");
}
END_TEST

TEST_MAIN("tree-walk", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_deep);
        tcase_add_test(tcase, test_wide);
        tcase_add_test(tcase, test_moved_out);
        tcase_add_test(tcase, test_moved_out_beside);
        tcase_add_test(tcase, test_replaced);
        tcase_add_test(tcase, test_renamed);
        tcase_add_test(tcase, test_renamed_all_the_time);
        tcase_add_test(tcase, test_exchanged_for_a_link);
        tcase_add_test(tcase, test_removed);
        tcase_add_test(tcase, test_file);
        tcase_add_test(tcase, test_visitor_fails);
})
