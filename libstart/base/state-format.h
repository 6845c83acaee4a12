/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Files in /var/lib/keyturn are read by the keyturn of before, too, when somebody goes back to it
 * (keyturn-stability(7), UPGRADES). One that is written in another format than today's begins with a line "format=N";
 * today's have none. Who finds that line neither guesses what the others mean nor writes over them.
 *
 * text: of the file `path`, or its beginning. Fails with KT_ERROR_UNSUPPORTED, and names the file. Pure. */
bool state_format_check(const char *path, const char *text, GError **error);
