/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Files on their way into a container, or out of it: see transfer.c for what can be wrong with them. */
typedef struct Transfer {
        uid_t uid; /* whose the copies are, and who makes them */
        gid_t gid;
        struct Rights *rights; /* NULL: the caller is that user */
        guint64 limit;         /* so many bytes may be copied */
        guint left_out;        /* nodes of devices, FIFOs, sockets, and what is mounted below */
        GString *path;         /* what is being copied, for messages */
} Transfer;

/* Everything that is made from now on is made with the rights of uid and gid alone, which are not the caller's: what
 * they may not make is not made. For root; the process loses its groups for good. */
bool transfer_make_as_owner(Transfer *transfer, GError **error);
void transfer_clear(Transfer *transfer);

/* Copy `from` (O_PATH), with all that is in it, as `name` into the directory `to`. What has that name is replaced; a
 * directory is filled. name: NULL for a directory whose contents are to be in `to`. */
bool transfer_copy(Transfer *transfer, int from, int to, const char *name, GError **error);
