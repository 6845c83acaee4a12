/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Trees of files that nobody vouches for: an image's, and those of a volume that payloads write to. Names are looked
 * up one by one, below a descriptor, and no link is followed. */

/* Copy what is in the directory `from` into `to`, which is empty: with owners, modes, times, hard links among the
 * files, and the extended attributes of users and of capabilities. Device nodes and sockets are left out, and of a
 * file in holes the holes stay. Both are descriptors that can be read.
 *
 * uids, gids: NULL, or of a user of the host's who has made the files, and may have brought a disk on which others
 * own some. Fails then for a file whose owner the maps (id-map.h) do not have outside: root's with set-user-id would
 * be root's here, too. */
bool tree_copy(int from, int to, const GArray *uids, const GArray *gids, GError **error);

/* The same for a container in whose namespace the ids of `from` are others (id-map.h), with the owner and mode of
 * `from` itself, and with ACLs. What overlayfs keeps in attributes is left out. Fails for a file whose owner is none
 * of the namespace's: it would be another's. */
bool tree_copy_mapped(int from, int to, const GArray *uids, const GArray *gids, GError **error);

/* The content of a regular file, up to `size` and with its holes, into one that is empty. False with errno. limit: so
 * many bytes may be copied, and those that were are taken from it; EFBIG where there are more. */
bool tree_copy_content(int in, int out, off_t size, guint64 *limit);

/* Remove `name`, a directory with all that is in it, or anything else. It need not be there. */
bool tree_remove(int parent, const char *name, GError **error);

/* *ret_empty: whether there is nothing in it. False, with errno, where this cannot be told. */
bool tree_look(int directory, bool *ret_empty);
