/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Which ids of the host a user namespace's ids are: user_namespaces(7). */

typedef struct IdExtent {
        guint32 inside;  /* the first id in the namespace */
        guint32 outside; /* the host's for it */
        guint32 count;
} IdExtent;

/* An id map is a GArray of IdExtent; what id_map_finish() accepted is in the order of `inside`. */
GArray *id_map_new(void);

typedef enum IdKind {
        ID_UID,
        ID_GID,
} IdKind;

/* Adds what podman's --uidmap and --gidmap say: [FLAGS]INSIDE:[@]OUTSIDE[:COUNT], several with a comma, or a further
 * colon, between them. Flags: + puts the extent into those before it, of which it takes what it needs; u and g say
 * whose map it is for, where one option is used for both. @ is an id of the process that starts the container: for
 * root the host's own. Extents of the other kind are checked, and left out. */
bool id_map_parse(GArray *map, IdKind kind, const char *value, GError **error);

/* The same without flags and @, as UserNS=auto:uidmapping= has it. */
bool id_map_parse_plain(GArray *map, const char *value, GError **error);

/* Sorts, joins neighbours, and refuses what the kernel would: ids that are mapped twice, more than 340 extents. A
 * container needs an id 0. */
bool id_map_finish(GArray *map, IdKind kind, GError **error);

/* What podman's mount option idmap= says: uids=MAP;gids=MAP, each FILE-ID-HOST-ID-COUNT with a # between several;
 * with a @ before it, HOST-ID is one of the container's, which `uids` and `gids` map. These are NULL where that is
 * not known yet, or there is no user namespace. *ret_uids and *ret_gids have been checked. Transfer full. */
bool id_map_parse_mount(const char *value, const GArray *uids, const GArray *gids, GArray **ret_uids,
                        GArray **ret_gids, GError **error);

/* False where the id has none outside. */
bool id_map_outside(const GArray *map, guint32 inside, guint32 *ret);

/* The other way. */
bool id_map_inside(const GArray *map, guint32 outside, guint32 *ret);

/* Every id is itself, and all are there. */
bool id_map_is_identity(const GArray *map);

/* Every id that is there is itself. */
bool id_map_changes_nothing(const GArray *map);

/* As the kernel reads it in /proc/PID/uid_map. Transfer full. */
char *id_map_format(const GArray *map);
