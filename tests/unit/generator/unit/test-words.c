/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/files/unit-file.h"
#include "libstart/value/unit-words.h"
#include "tests/unit/test-main.h"

#define MAX_WORDS 6

#define FORMS "there are \\xHH, \\uHHHH, \\UHHHHHHHH and octal \\OOO up to \\377, and none for NUL"
#define MALFORMED(escape) "malformed escape '" escape "': " FORMS

typedef struct SplitCase {
        const char *line;
        WordsSyntax syntax;
        const char *words[MAX_WORDS]; /* and NULL */
        const char *error;            /* or NULL where it succeeds */
} SplitCase;

static const SplitCase split_cases[] = {
        { "", WORDS_ESCAPED, { NULL } },
        { " \t ", WORDS_ESCAPED, { NULL } },
        { "one", WORDS_ESCAPED, { "one" } },
        { "  one\ttwo  three ", WORDS_ESCAPED, { "one", "two", "three" } },
        { "\"a b\" 'c d' e", WORDS_ESCAPED, { "a b", "c d", "e" } },
        { "a\"b c\"d 'x''y'", WORDS_ESCAPED, { "ab cd", "xy" } },
        { "\"\" a ''", WORDS_ESCAPED, { "", "a", "" } },
        { "\"it's\" 'say \"hi\"'", WORDS_ESCAPED, { "it's", "say \"hi\"" } },
        { "\\a\\b\\f\\n\\r\\t\\v", WORDS_ESCAPED, { "\a\b\f\n\r\t\v" } },
        { "\\\\ \\\" \\' \\s", WORDS_ESCAPED, { "\\", "\"", "'", " " } },
        { "'\\n' \"\\t\"", WORDS_ESCAPED, { "\n", "\t" } },
        { "\\x41\\x7e \\101\\176", WORDS_ESCAPED, { "A~", "A~" } },
        { "\\u00e9 \\U0001F511", WORDS_ESCAPED, { "\xc3\xa9", "\xf0\x9f\x94\x91" } },
        { "\\xc3\\xa9", WORDS_ESCAPED, { "\xc3\x83\xc2\xa9" } }, /* characters, as with Podman */
        { "%i %% $X ${Y} $$", WORDS_ESCAPED, { "%i", "%%", "$X", "${Y}", "$$" } },
        { "; # a;b", WORDS_ESCAPED, { ";", "#", "a;b" } },
        { "a\\d", WORDS_ESCAPED, { NULL }, "unknown escape '\\d' (a backslash is written '\\\\')" },
        { "a\\ b", WORDS_ESCAPED, { NULL }, "unknown escape '\\ ' (a backslash is written '\\\\')" },
        { "\\\xc3\xa9", WORDS_ESCAPED, { NULL }, "unknown escape '\\\xc3\xa9' (a backslash is written '\\\\')" },
        { "a\\", WORDS_ESCAPED, { NULL }, "unknown escape '\\' (a backslash is written '\\\\')" },
        { "a\\d+\\|\\. \\n", WORDS_RELAXED, { "a\\d+\\|\\.", "\n" } },
        { "a\\ b \"\\d \\\"\"", WORDS_RELAXED, { "a\\ b", "\\d \"" } },
        { "\\\xc3\xa9", WORDS_RELAXED, { "\\\xc3\xa9" } },
        { "a\\", WORDS_RELAXED, { NULL }, "unknown escape '\\' (a backslash is written '\\\\')" },
        { "\\d\\x4", WORDS_RELAXED, { NULL }, MALFORMED("\\x4") },
        { "\\d\\x00", WORDS_RELAXED, { NULL }, MALFORMED("\\x00") },
        { "\\x4", WORDS_ESCAPED, { NULL }, MALFORMED("\\x4") },
        { "\\x00", WORDS_ESCAPED, { NULL }, MALFORMED("\\x00") },
        { "\\000", WORDS_ESCAPED, { NULL }, MALFORMED("\\000") },
        { "\\777", WORDS_ESCAPED, { NULL }, MALFORMED("\\777") },
        { "\\ud800", WORDS_ESCAPED, { NULL }, MALFORMED("\\ud800") },
        { "\\U00110000", WORDS_ESCAPED, { NULL }, MALFORMED("\\U00110000") },
        { "\\xff\\200\\377", WORDS_ESCAPED, { "\xc3\xbf\xc2\x80\xc3\xbf" } },
        { "one \"two", WORDS_ESCAPED, { NULL }, "the quote \" is not closed" },
        { "one'", WORDS_ESCAPED, { NULL }, "the quote ' is not closed" },
        { "\"a\\\"", WORDS_ESCAPED, { NULL }, "the quote \" is not closed" },
        { "a\\d \\n \\x41", WORDS_PLAIN, { "a\\d", "\\n", "\\x41" } },
        { "\"a b\\\" c", WORDS_PLAIN, { "a b\\", "c" } },
        { "\"a", WORDS_PLAIN, { NULL }, "the quote \" is not closed" },
};

START_TEST(splits) {
        const SplitCase *c = &split_cases[_i];
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) error = NULL;

        g_ptr_array_add(words, g_strdup("before"));
        ck_assert(words_split(words, c->line, c->syntax, &error) == !c->error);
        if (c->error) {
                ck_assert_str_eq(error->message, c->error);
                ck_assert_uint_eq(words->len, 1);
                return;
        }
        ck_assert_uint_eq(words->len, 1 + g_strv_length((char **) c->words));
        for (guint i = 0; c->words[i]; i++)
                ck_assert_str_eq(words->pdata[i + 1], c->words[i]);
}
END_TEST

static const struct {
        const char *word, *quoted;
} quote_cases[] = {
        { "plain", "plain" },
        { "", "\"\"" },
        { ";", "\";\"" },
        { "a;b", "a;b" },
        { ";;", ";;" },
        { "a b", "\"a b\"" },
        { "a\"b", "\"a\\\"b\"" },
        { "it's", "\"it's\"" },
        { "back\\slash", "\"back\\\\slash\"" },
        { "\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\"" },
        { "\x01\x7f", "\"\\x01\\x7f\"" },
        { "%i ${X}", "\"%i ${X}\"" },
        { "%%$$", "%%$$" },
        { "\xc3\xa9", "\xc3\xa9" },
        { "#x", "#x" },
        { "--option=value", "--option=value" },
        /* of systemd, a word for a variable, whatever it has; and no name, which would be lost */
        { "$X", "${X}" },
        { "$X/y", "$$X/y" },
        { "$X y", "\"$$X y\"" },
        { "$", "$$" },
        { "$$X", "$$X" },
        { "${X}/y", "${X}/y" },
        { "a$X", "a$X" },
};

START_TEST(quotes) {
        g_autoptr(GString) line = g_string_new(NULL);

        unit_words_add(line, quote_cases[_i].word);
        ck_assert_str_eq(line->str, quote_cases[_i].quoted);
}
END_TEST

/* Whatever bytes a word has, systemd's rules give it back. */
START_TEST(round_trip) {
        g_autoptr(GString) line = g_string_new(NULL);
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free),
                             given = g_ptr_array_new_with_free_func(g_free);
        const char *ends[] = { "", " ", "\"", "'", "\\", "x" };

        for (int c = 1; c < 0x80; c++)
                for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
                        g_ptr_array_add(given, g_strdup_printf("%s%c%s", ends[i], c, ends[(i + c) % 6]));
        unit_words_add_command(line, given);
        ck_assert(words_split(words, line->str, WORDS_ESCAPED, NULL));
        ck_assert_uint_eq(words->len, 127 * G_N_ELEMENTS(ends));
        for (guint i = 0; i < words->len; i++)
                ck_assert_str_eq(words->pdata[i], given->pdata[i]);
}
END_TEST

TEST_MAIN("words", {
        tcase_add_loop_test(tcase, splits, 0, G_N_ELEMENTS(split_cases));
        tcase_add_loop_test(tcase, quotes, 0, G_N_ELEMENTS(quote_cases));
        tcase_add_test(tcase, round_trip);
})
