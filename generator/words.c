/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/words.h"
#include "libstart/base/error.h"

#define BLANKS " \t\n\r"

static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* `digits` digits of `base` at *text. Moves *text behind them. */
static bool read_digits(const char **text, unsigned digits, unsigned base, gunichar *ret) {
        gunichar value = 0;

        for (unsigned i = 0; i < digits; i++) {
                int digit = g_ascii_xdigit_value((*text)[i]);

                if (digit < 0 || (unsigned) digit >= base)
                        return false;
                value = value * base + (unsigned) digit;
        }
        *text += digits;
        *ret = value;
        return true;
}

/* \x and octal give one byte, \u and \U one character of UTF-8. */
static bool append_code(GString *word, const char **text, unsigned digits, unsigned base, bool is_byte) {
        gunichar code;

        if (!read_digits(text, digits, base, &code) || code == 0)
                return false;
        if (is_byte ? code > 0xff : !g_unichar_validate(code))
                return false;
        if (is_byte)
                g_string_append_c(word, (char) code);
        else
                g_string_append_unichar(word, code);
        return true;
}

/* *text is behind the backslash. */
static bool append_escape(GString *word, const char **text) {
        static const char letters[] = "abfnrtvs\\\"'", meanings[] = "\a\b\f\n\r\t\v \\\"'";
        const char *letter;

        switch (**text) {
        case '\0':
                return false;
        case 'x':
                ++*text;
                return append_code(word, text, 2, 16, true);
        case 'u':
                ++*text;
                return append_code(word, text, 4, 16, false);
        case 'U':
                ++*text;
                return append_code(word, text, 8, 16, false);
        case '0' ... '7':
                return append_code(word, text, 3, 8, true);
        default:
                letter = strchr(letters, **text);
                if (!letter)
                        return false;
                g_string_append_c(word, meanings[letter - letters]);
                ++*text;
                return true;
        }
}

/* The length of the backslash and the whole character behind it: half a character would make the message unreadable
 * in the journal. */
static int escape_length(const char *text) {
        return text[1] ? (int) (g_utf8_next_char(text + 1) - text) : 1;
}

/* The word at *text, which is no blank and not the end. Quotes may open and close in the middle of a word. */
static bool read_word(GString *word, const char **text, WordsSyntax syntax, GError **error) {
        char quote = 0;

        while (**text && (quote || !is_blank(**text))) {
                const char *start = *text;
                char c = *(*text)++;

                if (c == '\\' && syntax == WORDS_ESCAPED) {
                        if (!append_escape(word, text))
                                return error_set(error, KT_ERROR_USAGE,
                                                 "unknown escape '%.*s' (a backslash is written '\\\\')",
                                                 escape_length(start), start);
                } else if (c == quote)
                        quote = 0;
                else if (!quote && (c == '"' || c == '\''))
                        quote = c;
                else
                        g_string_append_c(word, c);
        }
        if (quote)
                return error_set(error, KT_ERROR_USAGE, "the quote %c is not closed", quote);
        if (!g_utf8_validate(word->str, (gssize) word->len, NULL))
                return error_set(error, KT_ERROR_USAGE, "a word is not UTF-8");
        return true;
}

bool words_split(GPtrArray *words, const char *line, WordsSyntax syntax, GError **error) {
        g_autoptr(GString) word = g_string_sized_new(64);
        guint before = words->len;

        for (line += strspn(line, BLANKS); *line; line += strspn(line, BLANKS)) {
                g_string_truncate(word, 0);
                if (!read_word(word, &line, syntax, error)) {
                        g_ptr_array_set_size(words, (int) before);
                        return false;
                }
                g_ptr_array_add(words, g_strndup(word->str, word->len));
        }
        return true;
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

void words_append_quoted(GString *line, const char *word) {
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

char *words_unquote(const char *text) {
        size_t length = strlen(text);

        if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
                return g_strndup(text + 1, length - 2);
        return g_strdup(text);
}
