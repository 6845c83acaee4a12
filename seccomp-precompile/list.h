/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/seccomp/cache.h"

/* Prints what is in PATH_SECCOMP and PATH_SECCOMP_LIB below root, for which units, how large and how old. */
bool list_filters(const char *root, GError **error);

/* The one filter whose name begins with `key`, in either directory, or the file of that path. */
SeccompCacheEntry *find_filter(const char *root, const char *key, GError **error);
