/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "tests/unit/generator/files/print-unit-file.h"
#include "tests/unit/test-main.h"

static UnitFile *parse(const char *text, size_t length, GError **error) {
        g_autoptr(UnitFile) file = unit_file_new();

        return unit_file_parse(file, "x.container", text, length, error) ? g_steal_pointer(&file) : NULL;
}

/* text -> value of [A] K=, or the error */
static const struct {
        const char *text, *value, *error;
} cases[] = {
        { "[A]\nK=v\n", "v" },
        { "[A]\nK=v", "v" },
        { " [A] \n  K  =  a b  \n", "a b" },
        { "[A]\nK=\n", "" },
        { "[A]\r\nK=v\r\n", "v" },
        { "[A]\nK=a=b\n", "a=b" },
        { "[A]\nK=# no comment\n", "# no comment" },
        { "[A]\nK=a\\\nb\n", "ab" },
        { "[A]\nK=a \\\n   b\n", "a b" },
        { "[A]\nK=a\\\n   b\n", "ab" },
        { "[A]\nK=a \\\n\n# c\n ; c\nb\n", "a b" },
        { "[A]\nK=a \\\nb \\\nc\nK2=x\n", "a b c" },
        { "[A]\nK=a\\", "a" },
        { "[A]\nK=a\\\n", "a" },
        { "[A]\nK=1\n[B]\nK=2\n[A]\nK=3\n", "3" },
        { "# c\n; c\n\n[A]\nK=v\n", "v" },
        { "[A]\nK=v\n[A.b-c d]\nK=w\n", "v" },
        { "K=v\n", NULL, "x.container:1: an assignment before the first [Section]" },
        { "[A]\nK=v\n\nnothing\n", NULL, "x.container:4: neither a [Section], a KEY=VALUE nor a # comment" },
        { "[A]\nK=a\\\nb\nnothing\n", NULL, "x.container:4: neither a [Section], a KEY=VALUE nor a # comment" },
        { "[A]\n=v\n", NULL, "x.container:2: neither a [Section], a KEY=VALUE nor a # comment" },
        { "[A]\nno \\\nassignment\n", NULL, "x.container:2: neither a [Section], a KEY=VALUE nor a # comment" },
        { "[A]\n\\\n[B]=v\n", NULL, "x.container:2: neither a [Section], a KEY=VALUE nor a # comment" },
        { "[A\n", NULL, "x.container:1: a section is written [Name]" },
        { "[]\n", NULL, "x.container:1: a section is written [Name]" },
        { "[A] x\n", NULL, "x.container:1: a section is written [Name]" },
        { "[A]]\n", NULL, "x.container:1: a section is written [Name]" },
        { "[A]\nK=\xff\n", NULL, "x.container:2: the line is not UTF-8" },
        { "[A]\n# \xff\nK=v\n", "v" },
        { "[A]\n[\xff]\n", NULL, "x.container:2: the line is not UTF-8" },
        { "\xef\xbb\xbf[A]\nK=v\n", NULL,
          "x.container:1: the file begins with a byte order mark (BOM), which editors rarely show: save it as UTF-8 "
          "without one" },
        { "\xef\xbb\xbf", NULL,
          "x.container:1: the file begins with a byte order mark (BOM), which editors rarely show: save it as UTF-8 "
          "without one" },
        { "[A]\nK=a \\\\", NULL, "x.container:2: the last line of the file ends in two backslashes" },
};

START_TEST(parses) {
        g_autoptr(GError) error = NULL;
        g_autoptr(UnitFile) file = parse(cases[_i].text, strlen(cases[_i].text), &error);
        const UnitLine *line = file ? unit_section_last(unit_file_section(file, "A"), "K") : NULL;

        ck_assert_pstr_eq(error ? error->message : NULL, cases[_i].error);
        ck_assert_pstr_eq(line ? line->value : NULL, cases[_i].value);
}
END_TEST

START_TEST(refuses_nul) {
        g_autoptr(GError) error = NULL;
        g_autoptr(UnitFile) file = parse("[A]\nK=a\0b\n", 11, &error);

        ck_assert_ptr_null(file);
        ck_assert_str_eq(error->message, "x.container:2: the line holds a NUL byte");
}
END_TEST

/* What is printed must mean to systemd what was read by Podman's rules: lines that they join alike stay as
 * they are. */
static const struct {
        const char *text, *printed;
} print_cases[] = {
        { "# c\n\n[A]\n  K = v\n\n; c\n", NULL },
        { "[A]\nK=a \\\n  b\n", NULL },
        { "[A]\nK=a \\\n# c\n  b\n", NULL },
        { "[A]\nK=a\\\nb\n", "[A]\nK=ab\n" },
        { "[A]\nK=a \\\n\nb\n", "[A]\nK=a b\n" },
        { "[A]\nK=a \\\nb\\\nc\n", "[A]\nK=a bc\n" },
        { "[A]\nK=a \\", "[A]\nK=a\n" },
        { "[A]\nK=a \\\n# \xff\n  b\n", "[A]\nK=a b\n" },
        { "[A]\r\nK=v\r\n", "[A]\nK=v\n" },
        { "[A]\nK=1\n[B]\nK=2\n[A]\nK=3\n", "[A]\nK=1\nK=3\n[B]\nK=2\n" },
        { "[A]\nK=a \\ \n  b\n", "[A]\nK=a b\n" },
        { "[A]\nK=a \\\n  b \\\t\n c\nL=x\n", "[A]\nK=a b c\nL=x\n" },
        { "[A]\r\nK=a \\\r\n b\r\n", "[A]\nK=a b\n" },
};

START_TEST(prints) {
        const char *text = print_cases[_i].text;
        g_autoptr(UnitFile) file = parse(text, strlen(text), NULL);
        g_autofree char *printed = print_unit_file(file);

        ck_assert_str_eq(printed, print_cases[_i].printed ? print_cases[_i].printed : text);
}
END_TEST

START_TEST(knows_lines_of_dropins) {
        g_autoptr(UnitFile) file = parse("[A]\nK=1\n", 8, NULL);
        const UnitLine *line;

        ck_assert(unit_file_parse(file, "10.conf", "# c\n\n[A]\nK=2 \\\n 3\nL=4\n", 22, NULL));
        line = unit_section_last(unit_file_section(file, "A"), "K");
        ck_assert_str_eq(line->path, "10.conf");
        ck_assert_uint_eq(line->number, 4);
        line = unit_section_last(unit_file_section(file, "A"), "L");
        ck_assert_uint_eq(line->number, 6);
        line = &g_array_index(unit_file_section(file, "A")->lines, UnitLine, 0);
        ck_assert_str_eq(line->path, "x.container");
        ck_assert_uint_eq(line->number, 2);
}
END_TEST

/* A drop-in without a section of its own must not go on in the last section of the file. */
START_TEST(dropin_needs_section) {
        g_autoptr(UnitFile) file = parse("[A]\nK=1\n", 8, NULL);
        g_autoptr(GError) error = NULL;

        ck_assert(!unit_file_parse(file, "10.conf", "K=2\n", 4, &error));
        ck_assert_str_eq(error->message, "10.conf:1: an assignment before the first [Section]");
}
END_TEST

static bool has_repeated_section(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

        for (char **line = lines; *line; line++)
                if (**line == '[' && !g_hash_table_add(seen, *line))
                        return true;
        return false;
}

/* Real files come out as they went in, byte for byte. Those with lines that systemd joins otherwise than
 * Podman come out with the same meaning: printing that again changes nothing. */
START_TEST(real_files) {
        const char *directory = "/usr/lib/systemd/system";
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        unsigned same = 0, joined = 0;
        const char *name;

        ck_assert_ptr_nonnull(dir);
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL, *printed = NULL,
                                *again = NULL;
                g_autoptr(UnitFile) file = NULL, second = NULL;
                g_autoptr(GError) error = NULL;
                gsize length;

                if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || !g_file_get_contents(path, &text, &length, NULL) ||
                    length == 0 || has_repeated_section(text))
                        continue;
                file = parse(text, length, &error);
                ck_assert_msg(file, "%s: %s", path, error ? error->message : "");
                printed = print_unit_file(file);
                if (g_str_equal(printed, text)) {
                        same++;
                        continue;
                }
                ck_assert_msg(strstr(text, "\\\n"), "%s changed:\n%s", path, printed);
                joined++;
                second = parse(printed, strlen(printed), NULL);
                again = print_unit_file(second);
                ck_assert_str_eq(again, printed);
        }
        ck_assert_uint_gt(same, 50);
        ck_assert_uint_lt(joined, same);
}
END_TEST

TEST_MAIN("unit-file", {
        tcase_add_loop_test(tcase, parses, 0, G_N_ELEMENTS(cases));
        tcase_add_test(tcase, refuses_nul);
        tcase_add_loop_test(tcase, prints, 0, G_N_ELEMENTS(print_cases));
        tcase_add_test(tcase, knows_lines_of_dropins);
        tcase_add_test(tcase, dropin_needs_section);
        tcase_add_test(tcase, real_files);
})
