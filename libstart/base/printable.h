/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Text for a terminal or a log.
 *
 * The threat: who makes an image, a file or a unit chooses its names and what is wrong with it, and an administrator
 * looks at them. With escape sequences a name could clear the screen, set the window's title or the keyboard; with a
 * line break, and "<0>" behind it, forge a line of the journal that is shown on all terminals; with what turns the
 * direction of writing, or is not seen, look like another one.
 *
 * So everything that is not printed as itself is shown as C writes it: \n, \x1b (also for bytes that are not UTF-8),
 * \u202e. A backslash stays one: names with an "\x2d" of systemd's are frequent. What must be exact is printed as
 * JSON. */

/* Transfer full. */
char *printable(const char *text);

/* The same for more than one line: line breaks and tabs stay. Transfer full. */
char *printable_lines(const char *text);

/* A JSON document, with what is not printable as JSON writes it: it means the same. It must be valid. Transfer full.
 */
char *printable_json(const char *json);

/* As printf(3), of printable_lines(). */
void printable_print(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* That all which went to standard output has been taken there: a full disk says so late, and who reads half of a
 * document should know. At the end of a program. */
bool printable_flush(GError **error);
