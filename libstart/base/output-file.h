/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A file that somebody names for what a command finds. It is replaced as a whole, so it must be a file: a device, or
 * /dev/stdout, would be gone for all others. */

/* Can it be written? To be asked before what takes long. */
bool output_file_check(const char *path, GError **error);

/* Who reads it sees all of it, or what was there before. */
bool output_file_write(const char *path, const char *text, GError **error);
