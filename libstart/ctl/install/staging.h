/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Files on their way into an application: a directory beside the search path, which one rename makes the
 * application's, so that nobody ever reads half of it. */
typedef struct Staging {
        char *path;
        int lock;         /* of it, or -1: without, it is left over, and the next one removes it */
        GPtrArray *files; /* of char*: below it */
        GPtrArray *left;  /* of char*: what Yaml= and ConfigMap= name beside the file and is not taken along */
} Staging;

bool staging_init(Staging *staging, GError **error);

/* Removes what is left of it. */
void staging_clear(Staging *staging);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Staging, staging_clear)

/* Copies regular files; a link or anything else is an error. source is one of
 *
 *   - a file of Quadlet's, with its drop-ins, and with what it names beside itself: files of Quadlet's, and relative
 *     paths ("./" in front, or the value of a key that ends in File=)
 *   - any other file
 *   - a directory, with all that is in it (but .git)
 *   - a file with several of Quadlet's, NAME.quadlets
 *   - a file of the last kinds by its URL, http or https. */
bool staging_add(Staging *staging, const char *source, GError **error);

/* Copies what is in that directory and not in `listed` (paths below it, of char*), nor here yet. */
bool staging_add_others(Staging *staging, const char *directory, const GPtrArray *listed, GError **error);

/* A file that Yaml= or ConfigMap= names, which lies beside and is not one of the files. Transfer none; or NULL. */
const char *staging_find_left(const Staging *staging);
