/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/resolve.h"
#include "tests/unit/own-tree.h"
#include "tests/unit/test-main.h"

#define N_RENAMERS 2

static char *directory;
static int root_fd;
static pid_t renamers[N_RENAMERS];

/* Somewhere else on the machine, and without end. */
static pid_t start_renaming(int number) {
        char one[16], other[16];
        pid_t pid = fork();

        if (pid != 0)
                return pid;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(one, sizeof one, "one%d", number);
        snprintf(other, sizeof other, "other%d", number);
        close(open(one, O_WRONLY | O_CREAT, 0600));
        for (;;)
                if (rename(one, other) < 0 || rename(other, one) < 0)
                        _exit(1);
}

static void setup(void) {
        directory = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        ck_assert_int_eq(chdir(directory), 0);
        ck_assert_int_eq(mkdir("root", 0755) | mkdir("root/etc", 0755) | mkdir("root/usr", 0755), 0);
        ck_assert(g_file_set_contents("root/usr/passwd", "", -1, NULL));
        ck_assert_int_eq(symlink("../etc/../usr/passwd", "root/etc/passwd"), 0);
        root_fd = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < N_RENAMERS; i++)
                renamers[i] = start_renaming(i);
}

static void teardown(void) {
        for (int i = 0; i < N_RENAMERS; i++) {
                kill(renamers[i], SIGKILL);
                waitpid(renamers[i], NULL, 0);
        }
        close(root_fd);
        own_tree_remove(directory);
}

START_TEST(test_not_a_matter_of_luck) {
        for (int i = 0; i < 20000; i++) {
                int fd = resolve_open(root_fd, "etc/passwd", O_RDONLY, 0, RESOLVE_IN_ROOT);

                ck_assert_msg(fd >= 0, "look-up %d: %s", i, g_strerror(errno));
                close(fd);
        }
}
END_TEST

START_TEST(test_what_is_not_there) {
        ck_assert_int_eq(resolve_open(root_fd, "etc/../none", O_PATH, 0, RESOLVE_IN_ROOT), -1);
        ck_assert_int_eq(errno, ENOENT);
        ck_assert_int_eq(resolve_open(root_fd, "../none", O_PATH, 0, RESOLVE_BENEATH), -1);
        ck_assert_int_eq(errno, EXDEV);
        ck_assert_int_eq(resolve_open(root_fd, "etc/passwd", O_PATH, 0, RESOLVE_NO_SYMLINKS), -1);
        ck_assert_int_eq(errno, ELOOP);
}
END_TEST

TEST_MAIN("resolve", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_not_a_matter_of_luck);
        tcase_add_test(tcase, test_what_is_not_there);
})
