/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <unistd.h>

#include "libstart/base/output-file.h"
#include "tests/unit/base/expect-error.h"

/* What is not a file stays what it is. */
static const struct {
        const char *path;
        ErrorCode code;
        const char *said;
} refused[] = {
        { "", KT_ERROR_USAGE, "'' is no file that could be replaced" },
        { "/dev/null", KT_ERROR_USAGE, "'/dev/null' is no file" },
        { "/tmp", KT_ERROR_USAGE, "'/tmp' is no file" },
        { "null", KT_ERROR_USAGE, "'null' is no file" },
        { "stream", KT_ERROR_USAGE, "'stream' is no file" },
        { "/proc/x", KT_ERROR_FAILED, "Cannot write '/proc/x': No such file or directory" },
        { "/no/such/x", KT_ERROR_NOT_FOUND, "Cannot write '/no/such/x': No such file or directory" },
};

START_TEST(test_refused) {
        g_autofree char *work = g_dir_make_tmp("keyturn-XXXXXX", NULL), *stream = NULL;
        g_autoptr(GError) error = NULL;

        ck_assert_int_eq(chdir(work), 0);
        ck_assert_int_eq(symlink("/dev/null", "null"), 0);
        ck_assert_int_eq(symlink("/proc/self/fd/1", "stream"), 0);
        ck_assert(!output_file_write(refused[_i].path, "text", &error));
        expect_error(error, refused[_i].code, refused[_i].said);
        stream = g_file_read_link("stream", NULL);
        ck_assert_str_eq(stream, "/proc/self/fd/1");
        ck_assert_int_eq(unlink("null") + unlink("stream") + chdir("/") + rmdir(work), 0);
}
END_TEST

/* A link of one's own is replaced, as a file is. */
START_TEST(test_replaced) {
        g_autofree char *work = g_dir_make_tmp("keyturn-XXXXXX", NULL), *text = NULL, *other = NULL;

        ck_assert_int_eq(chdir(work), 0);
        ck_assert(output_file_write("other", "old", NULL));
        ck_assert_int_eq(symlink("other", "file"), 0);
        ck_assert(output_file_write("file", "new", NULL));
        ck_assert(g_file_get_contents("file", &text, NULL, NULL) && g_file_get_contents("other", &other, NULL, NULL));
        ck_assert_str_eq(text, "new");
        ck_assert_str_eq(other, "old");
        ck_assert_int_eq(unlink("file") + unlink("other") + chdir("/") + rmdir(work), 0);
}
END_TEST

TEST_MAIN("base/output-file", {
        tcase_add_loop_test(tcase, test_refused, 0, G_N_ELEMENTS(refused));
        tcase_add_test(tcase, test_replaced);
})
