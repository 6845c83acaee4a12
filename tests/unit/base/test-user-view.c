/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/user-view.h"
#include "tests/unit/test-main.h"

static char *runtime, *directory, *holder;

static void setup(void) {
        runtime = g_dir_make_tmp("keyturn-test-XXXXXX", NULL);
        directory = g_build_filename(runtime, "keyturn", NULL);
        holder = g_build_filename(directory, ".view", NULL);
        ck_assert_int_eq(mkdir(directory, 0700), 0);
        ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", runtime, 1), 0);
}

static void teardown(void) {
        (void) g_remove(holder);
        ck_assert(rmdir(directory) == 0 && rmdir(runtime) == 0);
        g_free(runtime);
        g_free(directory);
        g_free(holder);
}

static void expect(int expected) {
        pid_t pid;
        int fd = user_view_open_holder(&pid);

        ck_assert_msg(fd < 0 && errno == expected, "%d, %s, expected: %s", fd, g_strerror(errno),
                      g_strerror(expected));
}

START_TEST(test_no_holder) {
        g_autofree char *later = g_strdup_printf("%d 1\n", (int) getpid());

        expect(ENOENT);
        ck_assert(g_file_set_contents(holder, "", -1, NULL));
        expect(ENOENT);
        ck_assert(g_file_set_contents(holder, later, -1, NULL));
        expect(ESRCH);
        ck_assert_int_eq(unsetenv("XDG_RUNTIME_DIR"), 0);
        expect(ENOENT);
}
END_TEST

/* Who takes that for no holder forgets what is in the view. */
START_TEST(test_unknown_holder) {
        const struct rlimit none = { 0, 0 };

        ck_assert_int_eq(mkdir(holder, 0700), 0);
        expect(EISDIR);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
        expect(EMFILE);
}
END_TEST

TEST_MAIN("base/user-view", {
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_no_holder);
        tcase_add_test(tcase, test_unknown_holder);
})
