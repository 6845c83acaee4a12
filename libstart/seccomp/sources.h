/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/seccomp/cache.h"

/* The state of every file whose change could change a container's profile, without reading any of them:
 * the profile, and for the default one also the files that could name another. Which file a path leads
 * to, its size, and when it was last written and last changed in any way (ctime, which nobody can set
 * back): two equal states are the same text. The numbers mean nothing in another boot or on another
 * machine. */
typedef struct SeccompSources {
        guint8 digest[SECCOMP_DIGEST_SIZE];
        bool settled; /* nothing has changed within the resolution of the file system's clock */
} SeccompSources;

/* profile: as asked for, NULL for the default one. path: the profile that this leads to. Both inside of
 * root. Fails where a file's state cannot be told; one that is not there is a state. */
bool seccomp_sources_find(const char *root, const char *profile, const char *path, SeccompSources *ret,
                          GError **error);
