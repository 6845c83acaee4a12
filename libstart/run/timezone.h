/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What /etc/localtime is to hold for a time zone of the host's, or for "local", the host's own (tzfile(5)). `root` is
 * where the host's files are: "/", except in tests. `zone` is one that check_timezone() has let pass. Transfer full;
 * *ret_length because there are NUL bytes in it. */
bool timezone_read(const char *root, const char *zone, char **ret_content, gsize *ret_length, GError **error);
