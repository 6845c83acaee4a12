/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/files/unit-file.h"
#include "libstart/value/unit-words.h"
#include "tests/fuzz/fuzz.h"

/* Words that were put together are the same words when they are taken apart. */
static void check_quoted(GPtrArray *words) {
        g_autoptr(GPtrArray) again = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) line = g_string_new(NULL);
        g_autoptr(GError) error = NULL;

        unit_words_add_command(line, words);
        require(words_split(again, line->str, WORDS_ESCAPED, &error), "%s: %s", line->str, error->message);
        for (const char *c = line->str; *c; c++)
                require(!g_ascii_iscntrl(*c), "a control character in '%s'", line->str);
        g_ptr_array_add(words, NULL);
        g_ptr_array_add(again, NULL);
        require_same((char **) words->pdata, (char **) again->pdata);
}

static void split(const char *text, WordsSyntax syntax) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) error = NULL;
        bool ok = words_split(words, text, syntax, &error);

        require_error(ok, error, text);
        require(ok || words->len == 0, "words are left from a line that is refused");
        check_quoted(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);

        split(text, WORDS_PLAIN);
        split(text, WORDS_ESCAPED);
        split(text, WORDS_RELAXED);
        if (g_utf8_validate(text, -1, NULL)) {
                g_autoptr(GPtrArray) whole = g_ptr_array_new_with_free_func(g_free);

                g_ptr_array_add(whole, g_strdup(text));
                check_quoted(whole);
        }
        return 0;
}
