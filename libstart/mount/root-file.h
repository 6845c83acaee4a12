/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Files below the container's root, reached without ever leaving it: symbolic links, also absolute ones and "..", are
 * followed as they would be after the pivot (openat2(2), RESOLVE_IN_ROOT; Linux 5.6). The image is not trusted. */

/* The content of a regular file of at most 4 MiB, in a root that is nodev; *ret_content is NULL, without an error,
 * where there is none. */
bool root_file_read(int root_fd, const char *path, char **ret_content, GError **error);

/* Write a whole file anew, mode 0644, following links as above. */
bool root_file_write(int root_fd, const char *path, const char *content, GError **error);

/* Make a directory with its parents (0755, root), the last one owned by uid:gid; one that exists is left alone. */
bool root_file_make_directory(int root_fd, const char *path, uid_t uid, gid_t gid, GError **error);

/* Whether there is such a directory; KT_ERROR_NOT_EXECUTABLE if not, because then no payload can begin in it. */
bool root_file_check_directory(int root_fd, const char *path, GError **error);

/* Something to mount on: O_PATH, links followed. Where there is nothing, an empty directory (0755) or file is made,
 * whichever `source` is, a descriptor of what is to be mounted. A link that leads to what the kernel shows there, in
 * /proc, /sys or /dev, is an error. */
int root_file_open_mount_point(int root_fd, const char *path, int source, GError **error);

/* The same check for somebody else who will mount there. What is not there yet is not looked at. */
bool root_file_check_mount_point(int root_fd, const char *path, GError **error);
