/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/option/user-spec.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *value, *user, *group;
} good[] = {
        { "", "", NULL },
        { "bob", "bob", NULL },
        { "bob:", "bob", "" },
        { ":44", "", "44" },
        { "1000:video", "1000", "video" },
        { "2147483647:0", "2147483647", "0" },
        { "a.b-c_d$", "a.b-c_d$", NULL },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        g_autofree char *user = NULL, *group = NULL;

        ck_assert(user_spec_parse(good[_i].value, &user, &group, &error));
        ck_assert_str_eq(user, good[_i].user);
        ck_assert_pstr_eq(group, good[_i].group);
}
END_TEST

static const struct {
        const char *value, *message;
} bad[] = {
        { "a:b:c", "USER[:GROUP]" },
        { "a b", "blanks" },
        { "a:\tb", "blanks" },
        { "bob\n", "blanks" },
        { "2147483648", "above" },
        { "0:4294967296", "above" },
        { "99999999999999999999999", "above" },
        { "-1", "neither" }, /* not a name of the image's choice: its passwd may have it, as root */
        { "0:+0", "neither" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        char *user = NULL, *group = NULL;

        ck_assert(!user_spec_parse(bad[_i].value, &user, &group, &error));
        expect_error(error, KT_ERROR_USAGE, bad[_i].message);
        ck_assert_ptr_null(user);
        ck_assert_ptr_null(group);
}
END_TEST

TEST_MAIN("user-spec", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
