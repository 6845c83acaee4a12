/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is that program in the search path? */
bool tool_is_there(const char *name);

/* Run it and wait. What it says goes to the journal; to systemctl status as well, behind `what`. Its last line is the error's
 * reason where it fails. words: as in tool-words.h; NULL is added. */
bool tool_run(GPtrArray *words, const char *what, GError **error);

/* Run it, and return what it prints. Transfer full. */
char *tool_read(GPtrArray *words, gsize *ret_length, GError **error);
