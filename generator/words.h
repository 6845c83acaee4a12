/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* systemd's words (systemd.syntax(7), QUOTING): how one line is taken apart and put together. Strings in, strings
 * out. Specifiers (%i) and variables (${X}) are ordinary characters here. */

typedef enum WordsSyntax {
        WORDS_PLAIN,   /* quotes are removed, a backslash is a backslash */
        WORDS_ESCAPED, /* as ExecStart=: C escapes are resolved, too */
} WordsSyntax;

/* Append the words of `line` to `words`, a GPtrArray that frees its elements. Fails on an open quote, an unknown or
 * cut escape, and one that stands for NUL or for what is not UTF-8; `words` is then as it was. */
bool words_split(GPtrArray *words, const char *line, WordsSyntax syntax, GError **error);

/* Append `word` to `line` so that systemd reads one word from it, a blank before it unless line is empty. */
void words_append_quoted(GString *line, const char *word);

/* One pair of double quotes around all of `text` removed. Transfer full. */
char *words_unquote(const char *text);
