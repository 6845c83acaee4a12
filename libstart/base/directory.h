/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Makes a directory that may be there already. Those above it that are missing get 0755 whatever `mode` says: what one
 * program keeps to itself in /run/keyturn or /var/lib/keyturn must not close these to the others. False with errno. */
bool directory_make(const char *path, mode_t mode);
