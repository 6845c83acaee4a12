/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/cache.h"

/* How a container comes by its filter: one that is there already, or one that is made now. root is "" or a directory
 * that stands for /. */

/* The filter that was compiled ahead for this key and boot, if it is beyond doubt. Reads nothing else.
 * KT_ERROR_NOT_FOUND if there is none. Transfer full. */
SeccompCacheEntry *seccomp_find(const char *root, const SeccompCacheKey *key, GError **error);

typedef struct SeccompBuild {
        SeccompCacheEntry *entry;
        bool from_image; /* taken from PATH_SECCOMP_LIB, for a profile with the same text */
        bool keepable;   /* the profile has not changed just now, so entry->header.sources will tell if it does */
} SeccompBuild;

void seccomp_build_clear(SeccompBuild *build);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SeccompBuild, seccomp_build_clear)

/* The filter for this key: one that came with the system image, else compiled from the profile now. *ret is set, and
 * the caller's, where it does not fail. */
bool seccomp_build(const char *root, const SeccompCacheKey *key, SeccompBuild *ret, GError **error);

/* If there is a `why`, it belongs into the journal. All zero: the filter was there. */
typedef struct SeccompOrigin {
        bool compiled; /* in place, at the expense of this start, rather than found */
        bool damaged;  /* there was a file, and it could not be used */
        char *why;     /* why what keyturn-seccomp.service should have left could not be used; NULL: it was */
} SeccompOrigin;

void seccomp_origin_clear(SeccompOrigin *origin);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SeccompOrigin, seccomp_origin_clear)

/* The filter of a container, as an array of struct sock_filter: one that was compiled ahead if it is beyond doubt,
 * else compiled now (and kept on /run for the next start). Never NULL without an error, and an error means that the
 * container must not start.
 *
 * profile: absolute path, as in --security-opt seccomp=PATH; NULL: the default profile. "unconfined" is decided by
 * the caller, who then does not call this. bounding_caps: bit n is capability number n. Transfer full;
 * *ret_origin, which is set where this does not fail, is the caller's, too. */
GBytes *seccomp_filter_for(const char *root, const char *profile, guint64 bounding_caps, SeccompOrigin *ret_origin,
                           GError **error);
