/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Read a whole file that keyturn-generator has written beside the units. Waits up to two seconds for it to appear: at a
 * reload systemd removes all that generators have made before it calls them again. Transfer full. */
bool generated_file_read(const char *path, char **ret_data, gsize *ret_length, GError **error);
