/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/analyze/phases.h"
#include "tests/unit/test-main.h"

START_TEST(test_parse) {
        g_autoptr(GArray) phases = phases_parse("launch 100\nimage 300\ntotal 350\n");

        ck_assert_ptr_nonnull(phases);
        ck_assert_uint_eq(phases->len, 2);
        ck_assert_str_eq(g_array_index(phases, Phase, 1).name, "image");
        ck_assert_uint_eq(phases_sum(phases), 400);
}
END_TEST

static const char *const bad[] = {
        "", "total 5\n", "launch\n", "launch x\n", " 5\n", "launch -5\n", "launch 9223372036854775807\n"
};

START_TEST(test_bad) {
        ck_assert_ptr_null(phases_parse(bad[_i]));
}
END_TEST

START_TEST(test_text) {
        g_autoptr(GArray) phases = phases_parse("launch 100\nimage 300\n"), none = phases_parse("launch 0\n");
        g_autofree char *text = phases_format("a.service", phases, 8), *zero = phases_format("b", none, 8);

        ck_assert_str_eq(text, "a.service: 400 us\n"
                               "  launch            100  ##\n"
                               "  image             300    ######\n");
        ck_assert_str_eq(zero, "b: 0 us\n  launch              0  \n");
}
END_TEST

START_TEST(test_svg) {
        g_autoptr(GArray) phases = phases_parse("launch 100\nimage 300\n");
        const PlotRow row = { "a<b>.service", phases, 0, 0, 0 };
        g_autofree char *svg = phases_format_svg(&row, 1);

        ck_assert_ptr_nonnull(strstr(svg, ">a&lt;b&gt;.service</text>"));
        ck_assert_ptr_nonnull(strstr(svg, "<title>image 300 us</title>"));
        ck_assert(g_str_has_suffix(svg, "400 us</text>\n</svg>\n"));
}
END_TEST

TEST_MAIN("phases", {
        tcase_add_test(tcase, test_parse);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_text);
        tcase_add_test(tcase, test_svg);
})
