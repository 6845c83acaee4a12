/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Words in a setting of a unit, ExecStart= above all. */

/* Is there something in it that only systemd can replace: a specifier, a variable? */
bool unit_word_is_unexpanded(const char *word);

/* Would systemd take all of it for the name of a variable, which it cannot be: $HOME/x? */
bool unit_word_is_lost(const char *word);

/* Append `word` to `line` so that systemd, which expands % and $ in it, reads one word from it, whatever is in a
 * variable; a blank before it unless line is empty. */
void unit_words_add(GString *line, const char *word);

/* Append the words of a command as they are: $NAME may become several, or none. */
void unit_words_add_command(GString *line, const GPtrArray *words);

/* Append an option and its value so; nothing where the value is NULL, and once for each of several. */
void unit_words_add_option(GString *line, const char *option, const char *value);
void unit_words_add_options(GString *line, const char *option, const GPtrArray *values);

/* As systemd names the unit of a device, by its path: systemd.unit(5), STRING ESCAPING. Transfer full. */
char *unit_words_device(const char *path);
