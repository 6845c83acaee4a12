/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/cache.h"

/* Reads a file of cache.h's format as if an enemy had put it there: it must be a regular file (a symbolic
 * link is none, and a FIFO does not hold up anything), belong to root, be writable by nobody else and be
 * whole. KT_ERROR_NOT_FOUND if there is no such file. Transfer full. */
SeccompCacheEntry *seccomp_cache_read(const char *dir, const char *name, GError **error);

/* Writes under a temporary name and renames, so that no reader ever sees half a file. Makes the
 * directory. */
bool seccomp_cache_write(const char *dir, const char *name, const SeccompCacheEntry *entry, GError **error);
