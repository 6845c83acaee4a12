/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The container's root in its mount namespace. At first the namespace has a copy of the host's mounts, in the end the
 * container's alone. All of this runs in the container's process, before it is confined. */

/* In a new mount namespace: what is mounted on path from now on stays in it. */
bool mount_tree_separate(const char *path, GError **error);

/* A detached copy of a mount, by its descriptor; with AT_RECURSIVE of those below it, too. -1 with errno. */
int mount_tree_clone(int source, unsigned flags);

/* Put a detached mount on path. */
bool mount_tree_attach(int mount, const char *path, GError **error);

/* The same on what was opened. False with errno; for -1 with that of who could not make it. */
bool mount_tree_put(int mount, int target);

typedef struct DetachedMount {
        int mount; /* -1: there is none */
        const char *path;
} DetachedMount;

/* Cut the way from this mount namespace to the host's. share_rest: but for `path`, where the root will be, mounts
 * go on being exchanged with the host's, for volumes that want that; else nothing is. */
bool mount_tree_begin(const char *path, bool share_rest, GError **error);

/* Behind that: recursive copies of what the directory lies in are without what is mounted in it from now on. kept: a
 * file in it that can be bound all the same, or NULL. To be said again when somebody has made all mounts private. */
bool mount_tree_leave_out(const char *directory, const char *kept, GError **error);

/* Put the mounts on their paths, in their order. */
bool mount_tree_attach_all(const DetachedMount *mounts, size_t n, GError **error);

/* After all mounts: the root is read-only if it is to be, and has no usable device nodes still. To be called where it
 * is to be read-only, or where libcrun has made mounts. */
bool mount_tree_end(int root_fd, bool read_only, GError **error);

/* Make it "/" and the working directory, and forget the host's. Not with share_rest: the host would lose its mounts.
 */
bool mount_tree_enter(int root_fd, GError **error);
