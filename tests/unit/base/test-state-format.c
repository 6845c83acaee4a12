/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/state-format.h"
#include "tests/unit/base/expect-error.h"

/* As the files of today are. */
static const char *const known[] = {
        "",
        "2000 4294965295 2000 4294965295 2000\nmapped\n9850048c348649f7\n",
        "systemd-shop 10.99.77.5\n",
        "format 10.99.77.5\n", /* a network of that name */
        "rejected=sha256:0f1e\nprevious=9a8b\n",
        "rejected=x\nformat=2\n",
};

START_TEST(test_formats_of_today) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(state_format_check("/x", known[_i], &error), "'%s': %s", known[_i],
                      error ? error->message : "no error");
}
END_TEST

START_TEST(test_formats_of_later) {
        static const char *const later[] = { "format=2", "format=2\nanything\n", "format=" };

        for (size_t i = 0; i < G_N_ELEMENTS(later); i++) {
                g_autoptr(GError) error = NULL;

                ck_assert(!state_format_check("/var/lib/keyturn/ids/x", later[i], &error));
                expect_error(error, KT_ERROR_UNSUPPORTED, "'/var/lib/keyturn/ids/x' was written by a newer keyturn");
        }
}
END_TEST

START_TEST(test_a_long_line_is_cut) {
        g_autofree char *many = g_strnfill(1000, 'x'), *text = g_strconcat("format=", many, NULL);
        g_autoptr(GError) error = NULL;

        ck_assert(!state_format_check("/x", text, &error));
        ck_assert_uint_lt(strlen(error->message), 250);
}
END_TEST

TEST_MAIN("base/state-format", {
        tcase_add_loop_test(tcase, test_formats_of_today, 0, G_N_ELEMENTS(known));
        tcase_add_test(tcase, test_formats_of_later);
        tcase_add_test(tcase, test_a_long_line_is_cut);
})
