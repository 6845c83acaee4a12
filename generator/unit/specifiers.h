/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* `text` for a place where systemd expands specifiers or variables: `special` is "%", or "%$". Transfer full. */
char *specifiers_escape(const char *text, const char *special);

/* What RequiresMountsFor= can say about `path`: the path, or as much as stands before a ${VARIABLE}. NULL where that
 * is nothing absolute. Transfer full. */
char *specifiers_required_path(const char *path);

/* The directory that systemd's own manager has for a specifier, or NULL. */
const char *specifiers_find_directory(char specifier);

/* The file that `name` means for who reads it now, and not when systemd completes it: in `directory`, unless it is
 * absolute. %h, %E and %t are those of the manager of who runs this, as in systemd.unit(5), SPECIFIERS; others are an
 * error. Transfer full. */
char *specifiers_file_path(const char *directory, const char *name, GError **error);

/* The first "%x" in `text` that is no specifier of any systemd's, which then does not load the unit, or NULL. */
const char *specifiers_find_unknown(const char *text);
