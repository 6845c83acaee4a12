/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/analyze/boot-plot.h"
#include "libstart/ctl/analyze/phases.h"
#include "tests/unit/test-main.h"

START_TEST(test_plot) {
        g_autoptr(GArray) phases = phases_parse("launch 100000\nimage 300000\n");
        const PlotRow rows[] = {
                { "a<b>.service", phases, 1500000, 2000000, 1900000 },
                { "b.service", NULL, 1800000, 2000000, 0 },
                { "c.service", phases, 1900000, 1950000, 10 }, /* cannot be: the phases are longer */
        };
        g_autofree char *svg = boot_plot_format(rows, G_N_ELEMENTS(rows), 1000000, 1800000);

        ck_assert_ptr_nonnull(strstr(svg, ">a&lt;b&gt;.service (500.0 ms)</text>"));
        /* Half of a second from the origin, of one that 900 pixels are for. */
        ck_assert_ptr_nonnull(
                strstr(svg, "<rect x=\"460.0\" y=\"34\" width=\"450.0\" height=\"18\" fill=\"#bab0ac\">"));
        ck_assert_ptr_nonnull(strstr(svg, "<rect x=\"550.0\" y=\"34\" width=\"270.0\" height=\"18\" fill=\"#f28e2b\">"
                                          "<title>image 300000 us</title>"));
        ck_assert_ptr_nonnull(strstr(svg, "x=\"733.0\" y=\"126\" fill=\"#e15759\">the boot is finished"));
        ck_assert_ptr_nonnull(strstr(svg, ">1.000 s</text>"));
        ck_assert_ptr_null(strstr(svg, ">1.100 s</text>"));
        ck_assert_ptr_null(strstr(strstr(svg, "b.service"), "launch"));
        ck_assert(g_str_has_suffix(svg, "</svg>\n"));
}
END_TEST

START_TEST(test_nothing_to_divide_by) {
        const PlotRow row = { "a", NULL, 5, 5, 0 };
        g_autofree char *svg = boot_plot_format(&row, 1, 5, 0), *late = boot_plot_format(&row, 1, 1000, 0);

        ck_assert_ptr_null(strstr(svg, "nan"));
        ck_assert_ptr_null(strstr(svg, "finished"));
        ck_assert_ptr_null(strstr(late, "x=\"-"));
}
END_TEST

TEST_MAIN("boot-plot", {
        tcase_add_test(tcase, test_plot);
        tcase_add_test(tcase, test_nothing_to_divide_by);
})
