/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/cache.h"

/* Looking for filters and making them. root is "" or a directory that stands for /. */

/* The filter that was compiled ahead for this key and boot, if it is beyond doubt. Reads nothing else.
 * KT_ERROR_NOT_FOUND if there is none. */
SeccompCacheEntry *seccomp_find(const char *root, const SeccompCacheKey *key, GError **error);

typedef struct SeccompBuild {
        SeccompCacheEntry *entry;
        bool from_image; /* taken from PATH_SECCOMP_LIB, for a profile with the same text */
        bool keepable;   /* the profile has not changed just now, so entry->sources will tell if it does */
} SeccompBuild;

void seccomp_build_clear(SeccompBuild *build);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SeccompBuild, seccomp_build_clear)

/* The filter for this key: one that came with the system image, else compiled from the profile now. */
bool seccomp_build(const char *root, const SeccompCacheKey *key, SeccompBuild *ret, GError **error);
