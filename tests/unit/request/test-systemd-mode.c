/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/systemd-mode.h"
#include "tests/unit/request/read-words.h"

static const struct {
        const char *mode;
        const char *const *words;
        bool applies;
} rows[] = {
        { "true", WORDS("/sbin/init"), true },
        { "true", WORDS("/usr/sbin/init", "3"), true },
        { "True", WORDS("/usr/local/sbin/init"), true },
        { "true", WORDS("systemd"), true },
        { "true", WORDS("/usr/lib/systemd/systemd"), true },
        { "true", WORDS("/bin/sh", "-c", "/sbin/init"), true },
        { "true", WORDS("/bin/sh", "-c"), false },
        { "true", WORDS("/bin/init"), false },
        { "true", WORDS("init"), false },
        { "true", WORDS("sh", "/sbin/init"), false },
        { "true", WORDS("/run/podman-init", "--", "/sbin/init"), false },
        { "false", WORDS("/sbin/init"), false },
        { "always", WORDS("sleep"), true },
        { "ALWAYS", WORDS("sleep"), true },
};

START_TEST(test_rows) {
        SystemdMode mode;

        ck_assert(systemd_mode_parse(rows[_i].mode, &mode, NULL));
        ck_assert_int_eq(systemd_mode_applies(mode, rows[_i].words), rows[_i].applies);
}
END_TEST

START_TEST(test_bad_mode) {
        g_autoptr(GError) error = NULL;
        SystemdMode mode;

        ck_assert(!systemd_mode_parse("sometimes", &mode, &error));
        ck_assert_str_eq(error->message, "there is no systemd mode 'sometimes': use true, always or false");
}
END_TEST

TEST_MAIN("systemd-mode", {
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_bad_mode);
})
