/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Mounts that show the files of a file system with other owners: those that a user namespace has for theirs. Nothing
 * is written for that. */

/* Maps a detached mount, and none below it. path: its source, for errors. They tell what to do where kernel or file
 * system have no id-mapped mounts. */
bool id_mapped_mount_set(int mount, int userns_fd, const char *path, GError **error);

/* A detached, mapped, read-only mount of a directory. -1 on errors. */
int id_mapped_mount_clone(const char *path, int userns_fd, GError **error);
