/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is this an absolute path? Looks at the text only. */
bool path_value_check(const char *path, GError **error);

/* An absolute path without ".", ".." and doubled or trailing slashes, as text: links are not followed.
 * Transfer full. */
char *path_value_clean(const char *path);

/* Whether `path` is `above` or below it; both are clean, and `above` is not "/". */
bool path_value_covers(const char *above, const char *path);

/* Is it /proc, /sys or /dev of a container, or below one of them? What is mounted there shows the kernel, and hides
 * and protects it. The path is clean. */
bool path_value_is_of_kernel(const char *path);

/* Can it be the name of a file in a directory: not "", "." or "..", without '/' and control characters? */
bool path_value_is_name(const char *text);
