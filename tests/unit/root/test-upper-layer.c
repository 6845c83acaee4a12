/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/root/upper-layer.h"
#include "tests/unit/base/expect-error.h"

static char *top, *image, *loop;
static int upper;

static void make_places(void) {
        top = g_dir_make_tmp(NULL, NULL);
        image = g_build_filename(top, "image", NULL);
        loop = g_build_filename(top, "loop", NULL);
        upper = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_eq(mkdir(image, 0755), 0);
        ck_assert_int_eq(mkdirat(upper, "image/run", 0700), 0);
        ck_assert_int_eq(symlink("loop", loop), 0);
}

static mode_t mode_of(int fd) {
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        return st.st_mode & 07777;
}

static void remove_places(void) {
        static const char *const directories[] = { "image/run", "image", "etc", "run", "" };

        unlink(loop);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(top, directories[i], NULL);

                rmdir(path);
        }
        close(upper);
        g_free(top);
        g_free(image);
        g_free(loop);
}

START_TEST(test_directories) {
        char *layers[] = { image, NULL };
        _cleanup_close_ int run = -1, etc = -1;

        umask(0);
        ck_assert(upper_layer_add_directory(upper, layers, "run", NULL, &run, NULL));
        ck_assert_uint_eq(mode_of(run), 0700);
        ck_assert(upper_layer_add_directory(upper, layers, "etc", NULL, &etc, NULL));
        ck_assert_uint_eq(mode_of(etc), 0755);
}
END_TEST

/* A directory that was private would be open to all. */
START_TEST(test_image_is_not_seen) {
        char *layers[] = { loop, image, NULL };
        g_autoptr(GError) error = NULL;
        int run;

        ck_assert(!upper_layer_add_directory(upper, layers, "run", NULL, &run, &error));
        ck_assert_int_eq(run, -1);
        expect_error(error, KT_ERROR_FAILED, "loop/run' of the image is: ");
}
END_TEST

TEST_MAIN("upper-layer", {
        tcase_add_checked_fixture(tcase, make_places, remove_places);
        tcase_add_test(tcase, test_directories);
        tcase_add_test(tcase, test_image_is_not_seen);
})
