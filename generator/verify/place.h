/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Where in the text of a unit file the subject of a message stands. Of a key that is unknown or refused it is the
 * key. Else it is the first word that the message quotes, if the assignment that begins in *line has it; else the
 * value. *line moves on where the word is in a continuing line. Returns the column, in characters, from 1. Pure. */
guint place_find(const char *text, const char *message, guint *line);

/* Of a message about YAML, which says its column in front ("column 4: ..."): it is cut off. 0: there is none. */
guint place_take_column(const char **message);
