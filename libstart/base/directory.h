/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <dirent.h>
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Makes the directory `path`, which is absolute, with this mode under any umask. Missing directories above it get
 * 0755: several programs have a part of /run/keyturn and of /var/lib/keyturn, any of them may be the first, and the
 * root of a user namespace has to pass. A directory that is there is left as it is. */
bool directory_make(const char *path, mode_t mode, GError **error);

/* The next entry, but "." and ".."; borrowed until the next call. NULL with errno 0 at the end, or with what keeps
 * the others from being known: who takes that for the end loses files, or leaves them as they were. */
const char *directory_next(DIR *entries);

/* The names in a directory, but "." and "..", in no order; none where it does not exist. A directory that cannot be
 * read to its end is an error: what would be missed may be what protects a container. Free with g_strfreev(). */
char **directory_list(const char *path, GError **error);
