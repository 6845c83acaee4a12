/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Give the directory or file `fd` (O_PATH), and all below it in the same mount, to the user and group. No link is
 * followed: it changes its own owner. A file with several names keeps its owner, as another name may be outside; it
 * is said how many there are. `path` is for messages. */
bool tree_change_owner(int fd, const char *path, uid_t uid, gid_t gid, GError **error);

/* Refuses directories of the system, as Podman does, also where a link leads to one. */
bool tree_check_owner_change(int fd, const char *path, GError **error);
