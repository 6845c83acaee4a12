/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "libstart/value/unit-words.h"

bool unit_word_is_unexpanded(const char *word) {
        return strpbrk(word, "%$");
}

/* A lone ';' would end the command. */
static bool needs_quotes(const char *word) {
        if (word[0] == '\0' || g_str_equal(word, ";"))
                return true;
        for (const char *c = word; *c; c++)
                if (g_ascii_iscntrl(*c) || *c == ' ' || *c == '"' || *c == '\'' || *c == '\\')
                        return true;
        return false;
}

static void append_escaped(GString *line, char c) {
        static const char characters[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
        const char *found = strchr(characters, c);

        if (found)
                g_string_append_printf(line, "\\%c", letters[found - characters]);
        else if (g_ascii_iscntrl(c))
                g_string_append_printf(line, "\\x%02x", (unsigned char) c);
        else
                g_string_append_c(line, c);
}

static void add_as_it_is(GString *line, const char *word) {
        if (line->len > 0)
                g_string_append_c(line, ' ');
        if (!needs_quotes(word)) {
                g_string_append(line, word);
                return;
        }
        g_string_append_c(line, '"');
        for (const char *c = word; *c; c++)
                append_escaped(line, *c);
        g_string_append_c(line, '"');
}

static bool is_variable(const char *name) {
        return name[0] && name[strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_")] == '\0';
}

bool unit_word_is_lost(const char *word) {
        return word[0] == '$' && word[1] != '{' && word[1] != '$' && !is_variable(word + 1);
}

/* A word that begins with $ and no brace is to systemd the name of a variable, all of it, of which it makes as many
 * words as the variable has, or none: the option behind a value would be lost as its value. */
void unit_words_add(GString *line, const char *word) {
        g_autofree char *one = NULL;

        if (unit_word_is_lost(word))
                one = g_strconcat("$", word, NULL);
        else if (word[0] == '$' && is_variable(word + 1))
                one = g_strconcat("${", word + 1, "}", NULL);
        add_as_it_is(line, one ?: word);
}

void unit_words_add_command(GString *line, const GPtrArray *words) {
        for (guint i = 0; i < words->len; i++)
                add_as_it_is(line, words->pdata[i]);
}

void unit_words_add_option(GString *line, const char *option, const char *value) {
        if (!value)
                return;
        unit_words_add(line, option);
        unit_words_add(line, value);
}

void unit_words_add_options(GString *line, const char *option, const GPtrArray *values) {
        for (guint i = 0; i < values->len; i++)
                unit_words_add_option(line, option, values->pdata[i]);
}

char *unit_words_device(const char *path) {
        GString *name = g_string_new(NULL);

        for (const char *c = path + 1; *c; c++)
                if (*c == '/')
                        g_string_append_c(name, '-');
                else if (g_ascii_isalnum(*c) || strchr(":_.", *c))
                        g_string_append_c(name, *c);
                else
                        g_string_append_printf(name, "\\x%02x", (unsigned char) *c);
        g_string_append(name, ".device");
        return g_string_free(name, FALSE);
}
