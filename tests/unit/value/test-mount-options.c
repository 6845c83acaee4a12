/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/mount-options.h"
#include "tests/unit/test-main.h"

static void expect_words(GPtrArray *words, const char *expected) {
        g_autofree char *joined = NULL;

        g_ptr_array_add(words, NULL);
        joined = g_strjoinv(" ", (char **) words->pdata);
        ck_assert_str_eq(joined, expected);
}

START_TEST(test_layers) {
        static const char options[] =
                "ro,lowerdir=/a:%h/b::c,upperdir=/up,workdir=work,lowerdir+=/d,datadir+=/e,xlowerdir=/no";
        g_autoptr(GPtrArray) below = mount_options_find_layers(options, false),
                             written = mount_options_find_layers(options, true),
                             none = mount_options_find_layers(NULL, false);

        expect_words(below, "/a %h/b /c /d /e");
        expect_words(written, "/up /work");
        expect_words(none, "");
}
END_TEST

static const struct {
        const char *type, *options;
        bool binds;
} kinds[] = {
        { NULL, NULL, false },    { "bind", NULL, true },         { "none", "ro,rbind", true },
        { "none", "bind", true }, { "overlay", "x=bind", false }, { "tmpfs", "size=1m", false },
};

START_TEST(test_bind) {
        ck_assert_int_eq(mount_options_bind(kinds[_i].type, kinds[_i].options), kinds[_i].binds);
}
END_TEST

TEST_MAIN("mount-options", {
        tcase_add_test(tcase, test_layers);
        tcase_add_loop_test(tcase, test_bind, 0, G_N_ELEMENTS(kinds));
})
