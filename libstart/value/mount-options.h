/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Options of mount(8), as a .volume file has them. */

/* Does mount(8), by this type and these options (each may be NULL), bind a directory that is there? */
bool mount_options_bind(const char *type, const char *options);

/* The directories that options of mount(8) (or NULL) name as an overlay's: those that are written, or those below. An
 * absolute path each, or what systemd has still to expand. Free with g_ptr_array_unref(). */
GPtrArray *mount_options_find_layers(const char *options, bool written);
