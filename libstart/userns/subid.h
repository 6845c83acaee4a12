/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/store/used-ids.h"

#define PATH_SUBUID "/etc/subuid"
#define PATH_SUBGID "/etc/subgid"

/* The name of a user in these files; the number where /etc/passwd has no name. NULL where that cannot be read.
 * Transfer full. */
char *subid_name(uid_t uid, GError **error);

/* The ids that a user has in subuid(5) or subgid(5): an array of IdRange in the order of the file. None is
 * KT_ERROR_NOT_FOUND, which says what line to add. Transfer full. */
GArray *subid_find(const char *path, const char *user, GError **error);

/* The same from the text of such a file; user NULL: what all have. Lines that are broken are skipped. Pure. Transfer
 * full. */
GArray *subid_parse(const char *text, const char *user);
