/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/user-spec.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "", "" },
        { "bob", "bob" },
        { "bob:", "bob, " },
        { ":44", ", 44" },
        { "1000:video", "1000, video" },
        { "2147483647:0", "2147483647, 0" },
        { "a.b-c_d$", "a.b-c_d$" },
};

static const BadValue bad[] = {
        { "a:b:c", KT_ERROR_USAGE, "USER[:GROUP]" },
        { "a b", KT_ERROR_USAGE, "blanks" },
        { "a:\tb", KT_ERROR_USAGE, "blanks" },
        { "bob\n", KT_ERROR_USAGE, "blanks" },
        { "2147483648", KT_ERROR_USAGE, "above" },
        { "0:4294967296", KT_ERROR_USAGE, "above" },
        { "99999999999999999999999", KT_ERROR_USAGE, "above" },
        { "-1", KT_ERROR_USAGE, "neither" }, /* not a name of the image's choice: its passwd may have it, as root */
        { "0:+0", KT_ERROR_USAGE, "neither" },
};

static char *parse(const char *value, GError **error) {
        g_autofree char *user = NULL, *group = NULL;

        if (user_spec_parse(value, &user, &group, error))
                return group ? g_strdup_printf("%s, %s", user, group) : g_strdup(user);
        ck_assert_ptr_null(user);
        ck_assert_ptr_null(group);
        return NULL;
}

PARSE_TESTS(parse)

TEST_MAIN("user-spec", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
