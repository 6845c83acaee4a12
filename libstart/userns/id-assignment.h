/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/request.h"
#include "libstart/store/used-ids.h"
#include "libstart/value/id-map.h"

/* UserNS=auto: ids that no other container has. They come from those of the user 'containers' in /etc/subuid and
 * /etc/subgid, as podman's, but from the upper end, where podman begins with the lower one; what podman has given out
 * is left to it.
 *
 * A container keeps its ids: they are in a file of its service's name in /var/lib/keyturn/ids, which is all that a
 * start reads. (Two services may have containers of one name.) Where one of these files cannot be understood, nobody
 * gets ids. They are found anew where there is no such file, or it was made for another request, another image, or
 * other lines of /etc/subuid; the old ones are kept if they still do. That takes some milliseconds, once.
 *
 * The ids of a container that is no more are taken where there are no others left. */

typedef struct IdAssignment {
        const char *name; /* of the container */
        const char *unit; /* of its service, without the suffix: its directory in /run/keyturn */
        const UsernsRequest *request;
        const struct Owner *owner; /* of the request's, found; or NULL */
        const char *user;          /* as in ContainerRequest, or the image's; NULL: root */
        char *const *layers;       /* of the image, or the root directory */
        bool is_pinned; /* it is to enter the namespace that was pinned ahead: its network belongs to that */
        bool is_shown;  /* what a start would get is only looked at: nothing is given, written or taken away */
} IdAssignment;

/* The finished maps (id-map.h), with what the request maps beside the range. Transfer full. */
bool id_assignment_find(const IdAssignment *wanted, GArray **ret_uids, GArray **ret_gids, GError **error);

/* A finished map of the first `size` ids: what `own` (or NULL) says of them, and for the others the range's. Transfer
 * full. */
GArray *id_range_make_map(const IdRange *range, const GArray *own, guint32 size, IdKind kind, GError **error);

/* Makes a directory, and keeps others who give ids out of it until the descriptor is closed. -1 on errors. */
int id_directory_lock(const char *directory, GError **error);

/* Where COUNT ids from FIRST on meet some of `used`, an array of IdRange, the first one of those; or NULL. */
const IdRange *id_ranges_find_overlap(const GArray *used, guint64 first, guint32 count);

/* The highest COUNT ids that follow each other in `available` and are not in `used`, arrays of IdRange. Pure. */
bool id_ranges_choose_free(const GArray *available, const GArray *used, guint32 count, guint32 *ret_first);

/* How many ids a passwd or group file needs: one more than its largest, but for nobody. Pure. */
guint32 passwd_text_count_ids(const char *text);
