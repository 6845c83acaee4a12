/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "libstart/base/printable.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *text, *shown;
} cases[] = {
        { "", "" },
        { "localhost/app:1.0 (a \\x2d b)", "localhost/app:1.0 (a \\x2d b)" },
        { "\xc3\xa4 \xe4\xbd\xa0 \xf0\x9f\x9a\x97", "\xc3\xa4 \xe4\xbd\xa0 \xf0\x9f\x9a\x97" },
        { "a\033[2Jb", "a\\x1b[2Jb" },
        { "one\n<0>two\ttab\r", "one\\n<0>two\\ttab\\x0d" },
        { "\177\x08", "\\x7f\\x08" },
        { "\xc2\x9b"
          "31m",
          "\\u009b31m" }, /* CSI as one character */
        { "\xe2\x80\xae"
          "gpj",
          "\\u202egpj" }, /* from right to left */
        { "a\xe2\x80\x8b"
          "b\xc2\xad",
          "a\\u200bb\\u00ad" }, /* not seen */
        { "\xe2\x80\xa8"
          "line",
          "\\u2028line" },
        { "\xf3\xa0\x80\x81", "\\U000e0001" },
        { "\x9b[\xff\xc3", "\\x9b[\\xff\\xc3" }, /* no UTF-8, and one that is cut off */
        { "\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80" },
};

START_TEST(test_printable) {
        g_autofree char *shown = printable(cases[_i].text);

        ck_assert_str_eq(shown, cases[_i].shown);
}
END_TEST

START_TEST(test_lines) {
        g_autofree char *shown = printable_lines("one\n\ttwo\r\n\033c");

        ck_assert_str_eq(shown, "one\n\ttwo\\x0d\n\\x1bc");
}
END_TEST

START_TEST(test_json) {
        g_autofree char *shown = printable_json(
                "[\n  \"\xc3\xa4 \\u001b \xc2\x9b \xe2\x80\xae \xf3\xa0\x80\x81 \177\"\n]\n");

        ck_assert_str_eq(shown, "[\n  \"\xc3\xa4 \\u001b \\u009b \\u202e \\udb40\\udc01 \\u007f\"\n]\n");
}
END_TEST

/* In buffers of libc and beyond: what a write has failed with is remembered. */
static const struct {
        const char *file;
        gsize length;
        const char *error; /* NULL: none */
} flushes[] = {
        { "/dev/null", 1, NULL },
        { "/dev/full", 0, NULL },
        { "/dev/full", 1, "Cannot write to standard output: No space left on device" },
        { "/dev/full", 1 << 20, "Cannot write to standard output: No space left on device" },
};

START_TEST(test_flush) {
        g_autofree char *text = g_strnfill(flushes[_i].length, 'x');
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_nonnull(freopen(flushes[_i].file, "w", stdout));
        fputs(text, stdout);
        ck_assert(printable_flush(&error) == !flushes[_i].error);
        if (flushes[_i].error)
                expect_error(error, KT_ERROR_FAILED, flushes[_i].error);
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}
END_TEST

TEST_MAIN("printable", {
        tcase_add_loop_test(tcase, test_printable, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, test_lines);
        tcase_add_test(tcase, test_json);
        tcase_add_loop_test(tcase, test_flush, 0, G_N_ELEMENTS(flushes));
})
