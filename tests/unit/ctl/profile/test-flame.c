/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/ctl/profile/flame-stacks.h"
#include "libstart/ctl/profile/flame.h"
#include "tests/unit/base/expect-error.h"

/* path: with blanks between. */
static void add(FlameFrame *root, const char *path, guint64 samples) {
        g_auto(GStrv) names = g_strsplit(path, " ", -1);
        FlameFrame *frame = root;

        frame->samples += samples;
        for (char **name = names; *name; name++)
                frame = flame_add(frame, *name, g_str_has_prefix(*name, "k"), samples);
        frame->self += samples;
}

static FlameFrame *make(void) {
        FlameFrame *root = flame_new("all");

        add(root, "payload main kread", 2);
        add(root, "libstart main open kread", 5);
        add(root, "libstart main", 1);
        return root;
}

static char *format_svg(FlameFrame *root, const char *title, double msec) {
        return flame_format_svg((const FlameGraph[2]) { [1] = { root, msec } }, title);
}

START_TEST(test_tips) {
        g_autoptr(FlameFrame) root = make();
        g_autoptr(GArray) tips = NULL;

        add(root, "idle", 9);
        add(root, "libstart kread", 2);
        tips = flame_find_tips((const FlameGraph[2]) { [1] = { root, 1 } });
        ck_assert_uint_eq(tips->len, 3);
        ck_assert_str_eq(g_array_index(tips, FlameTip, 0).part, "libstart");
        ck_assert_str_eq(g_array_index(tips, FlameTip, 0).function, "kread");
        ck_assert_uint_eq(g_array_index(tips, FlameTip, 0).samples[1], 7);
        ck_assert_str_eq(g_array_index(tips, FlameTip, 1).part, "payload");
        ck_assert_str_eq(g_array_index(tips, FlameTip, 1).function, "kread");
        ck_assert_str_eq(g_array_index(tips, FlameTip, 2).function, "main");
}
END_TEST

/* A function that only one of them has is compared with nothing. */
START_TEST(test_changed_tips) {
        g_autoptr(FlameFrame) before = make(), after = make();
        const FlameGraph graphs[] = { { before, 1 }, { after, 2 } };
        g_autoptr(GArray) tips = NULL;

        add(after, "payload new", 1);
        tips = flame_find_tips(graphs);
        ck_assert_uint_eq(tips->len, 4);
        ck_assert_uint_eq(g_array_index(tips, FlameTip, 0).samples[0], 5);
        ck_assert_uint_eq(g_array_index(tips, FlameTip, 0).samples[1], 5);
        ck_assert(g_array_index(tips, FlameTip, 0).change > 4.9);
        ck_assert_str_eq(g_array_index(tips, FlameTip, 2).function, "new");
        ck_assert_uint_eq(g_array_index(tips, FlameTip, 2).samples[0], 0);
}
END_TEST

START_TEST(test_svg) {
        g_autoptr(FlameFrame) root = make();
        g_autofree char *svg = format_svg(root, "a title", 0.5);
        const char *libstart = strstr(svg, "<title>libstart: 3.00 ms, 75.00 %</title>"),
                   *payload = strstr(svg, "<title>payload: 1.00 ms, 25.00 %</title>");

        ck_assert(g_str_has_prefix(svg, "<svg xmlns="));
        ck_assert_ptr_nonnull(strstr(svg, ">a title</text>"));
        ck_assert(libstart && payload && libstart < payload);
        ck_assert_ptr_nonnull(strstr(svg, "x=\"75.0000%\" width=\"25.0000%\" y=\"63\""));
        ck_assert_ptr_nonnull(strstr(svg, "<title>kread (kernel): 2.50 ms, 62.50 %</title>"));
}
END_TEST

START_TEST(test_narrow_is_left_out) {
        g_autoptr(FlameFrame) root = make();

        add(root, "libstart narrow", 1);
        add(root, "libstart wide", 9991);
        g_autofree char *svg = format_svg(root, "", 1);
        ck_assert_ptr_null(strstr(svg, "<title>narrow"));
        ck_assert_ptr_nonnull(strstr(svg, ">wide</text>"));
}
END_TEST

/* As names of functions and processes: they would be run by the browser of who looks at them, or not be XML. */
static const char *const hostile[] = {
        "</text><script>alert(1)</script>",
        "\"/><svg/onload=alert(1)>",
        "&bad;",
        "]]><b>",
        "a\x01\x1b[2J",
        "\xff\xfe",
        "a\nb",
        "\xe2\x80\xae"
        "abc",
};

START_TEST(test_hostile_names) {
        g_autoptr(FlameFrame) root = flame_new("all");
        g_autoptr(GMarkupParseContext) xml = NULL;
        const GMarkupParser nothing = { 0 };
        GError *error = NULL;

        root->samples = 1;
        flame_add(flame_add(root, "libstart", false, 1), hostile[_i], false, 1);
        g_autofree char *svg = format_svg(root, hostile[_i], 1);
        xml = g_markup_parse_context_new(&nothing, G_MARKUP_TREAT_CDATA_AS_TEXT, NULL, NULL);
        ck_assert_msg(g_markup_parse_context_parse(xml, svg, -1, &error) &&
                              g_markup_parse_context_end_parse(xml, &error),
                      "%s", error ? error->message : "");
        ck_assert_ptr_null(strstr(svg, "alert(1)<"));
        ck_assert_ptr_null(strstr(svg, "<svg/"));
        ck_assert_ptr_null(strstr(svg, hostile[_i]));
        ck_assert_ptr_eq(strstr(svg, "<script>"), g_strrstr(svg, "<script>"));
}
END_TEST

START_TEST(test_long_name) {
        g_autoptr(FlameFrame) root = flame_new("all");
        g_autofree char *name = g_strnfill(100000, 'n');

        root->samples = 1;
        flame_add(flame_add(root, "libstart", false, 1), name, false, 1);
        g_autofree char *svg = format_svg(root, "", 1);
        ck_assert_uint_lt(strlen(svg), 10000);
        ck_assert_ptr_nonnull(strstr(svg, ">nnnn"));
}
END_TEST

/* What is drawn can be read again, whatever names there are. */
START_TEST(test_stacks) {
        g_autoptr(FlameFrame) root = make(), read = NULL;
        g_autofree char *svg = NULL, *stacks = NULL, *again = NULL;
        g_autoptr(GError) error = NULL;
        double msec;

        add(root, "libstart <a>&amp;\"</metadata> ]]> 3", 4);
        svg = format_svg(root, "", 0.25);
        read = flame_stacks_read(svg, strlen(svg), &msec, &error);
        ck_assert_msg(read, "%s", error ? error->message : "no error");
        ck_assert(msec > 0.24 && msec < 0.26);
        ck_assert_uint_eq(read->samples, root->samples);
        stacks = flame_stacks_format(root, msec);
        again = flame_stacks_format(read, msec);
        ck_assert_str_eq(stacks, again);
}
END_TEST

static const char *const no_pictures[] = {
        "",
        "<svg></svg>",
        FLAME_STACKS_BEGIN,
        FLAME_STACKS_BEGIN FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "x\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "0\n1\tua\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "nan\n1\tua\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "1\nx\tua\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "1\n0\tua\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "1\n1\txa\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "1\n18446744073709551615\tua\n" FLAME_STACKS_END,
        FLAME_STACKS_BEGIN "1\n1\tu&unknown;\n" FLAME_STACKS_END,
};

START_TEST(test_no_pictures) {
        g_autoptr(GError) error = NULL;
        double msec;

        ck_assert_ptr_null(flame_stacks_read(no_pictures[_i], strlen(no_pictures[_i]), &msec, &error));
        expect_error(error, KT_ERROR_USAGE, "no picture");
}
END_TEST

START_TEST(test_too_deep) {
        g_autoptr(GString) svg = g_string_new(FLAME_STACKS_BEGIN "1\n1");
        g_autoptr(GError) error = NULL;
        double msec;

        for (int i = 0; i < FLAME_DEPTH_MAX; i++)
                g_string_append(svg, "\tua");
        g_string_append(svg, FLAME_STACKS_END);
        ck_assert_ptr_null(flame_stacks_read(svg->str, svg->len, &msec, &error));
}
END_TEST

/* What has grown is red, what has shrunk blue. */
START_TEST(test_diff) {
        g_autoptr(FlameFrame) before = make(), after = make();
        const FlameGraph graphs[] = { { before, 1 }, { after, 1 } };
        g_autofree char *svg = NULL;

        add(after, "libstart main new", 4);
        svg = flame_format_svg(graphs, "");
        ck_assert_ptr_nonnull(strstr(strstr(svg, "<title>new: "), "fill=\"#ff3c3c\""));
        ck_assert_ptr_nonnull(strstr(strstr(svg, "<title>payload: "), "fill=\"#f0f0ff\""));
}
END_TEST

TEST_MAIN("flame", {
        tcase_add_test(tcase, test_tips);
        tcase_add_test(tcase, test_changed_tips);
        tcase_add_test(tcase, test_svg);
        tcase_add_test(tcase, test_stacks);
        tcase_add_loop_test(tcase, test_no_pictures, 0, G_N_ELEMENTS(no_pictures));
        tcase_add_test(tcase, test_too_deep);
        tcase_add_test(tcase, test_diff);
        tcase_add_test(tcase, test_narrow_is_left_out);
        tcase_add_loop_test(tcase, test_hostile_names, 0, G_N_ELEMENTS(hostile));
        tcase_add_test(tcase, test_long_name);
})
