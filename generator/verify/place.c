/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "generator/verify/place.h"

static const char *skip_blanks(const char *text) {
        return text + strspn(text, " \t");
}

/* The first text between single quotes, which are no apostrophes. Transfer full. */
static char *find_quoted(const char *message) {
        for (const char *start = strchr(message, '\''); start; start = strchr(start + 1, '\'')) {
                const char *end = strchr(start + 1, '\'');

                if (end && end > start + 1 && (start == message || !g_ascii_isalnum(start[-1])))
                        return g_strndup(start + 1, (gsize) (end - start - 1));
        }
        return NULL;
}

static guint column_of(const char *line, const char *position) {
        return (guint) g_utf8_strlen(line, position - line) + 1;
}

/* Of the lines of one assignment, the first that has `word`, in its value. */
static const char *find_word(char *const *lines, const char *value, const char *word, guint *line) {
        const char *from = value;

        for (guint i = *line - 1; lines[i]; i++, from = lines[i]) {
                const char *found = from ? strstr(from, word) : NULL;

                if (found) {
                        *line = i + 1;
                        return found;
                }
                if (!g_str_has_suffix(g_strchomp(lines[i]), "\\"))
                        break;
        }
        return NULL;
}

static bool is_about_key(const char *message) {
        return g_ascii_strncasecmp(message, "unknown key", strlen("unknown key")) == 0 ||
               g_str_has_prefix(message, "not supported");
}

guint place_take_column(const char **message) {
        guint64 column;
        char *end;

        if (strncmp(*message, "column ", strlen("column ")) != 0 || !g_ascii_isdigit((*message)[strlen("column ")]))
                return 0;
        column = g_ascii_strtoull(*message + strlen("column "), &end, 10);
        if (!g_str_has_prefix(end, ": ") || column > G_MAXINT)
                return 0;
        *message = end + strlen(": ");
        return (guint) column;
}

guint place_find(const char *text, const char *message, guint *line) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autofree char *word = find_quoted(message);
        const char *key, *equals, *found = NULL;

        if (*line == 0 || *line > g_strv_length(lines))
                return 1;
        key = skip_blanks(lines[*line - 1]);
        equals = strchr(key, '=');
        if (!equals || is_about_key(message))
                return column_of(lines[*line - 1], key);
        if (word)
                found = find_word(lines, skip_blanks(equals + 1), word, line);
        if (!found)
                found = equals[1] ? skip_blanks(equals + 1) : key;
        return column_of(lines[*line - 1], found);
}
