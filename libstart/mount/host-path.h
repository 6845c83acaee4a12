/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/host-access.h"

/* Paths of the host that a container's file names: sources of volumes, root directories, environment files.
 *
 * The threat: libstart opens them as root, before there is a container. A payload of another container, or this one's
 * last, may be able to write to a directory on the way, and may have put a link there: to "/", and the next start
 * mounts the host's root; to another's secrets, and they become variables. The owner of the link tells nothing, as
 * payloads are root on the host's file systems, too.
 *
 * So no link is followed that lies in such a directory; all others are, as they are the administrator's.
 * keyturn-generator lists the directories: the sources of all writable volumes of all files (untrusted-paths.c). They
 * are compared by device and inode, so that another way to the same directory is no way around.
 *
 * Not known, and so not protected: volumes of containers without a file (`podman run`), volumes with a variable in
 * their path, and directories inside such a volume with a further mount on the host.
 *
 * Where the container belongs to a user, that user can reach what is opened, or it is not opened: the kernel checks
 * each step with the user's rights. Links of procfs are not followed then: /proc/self would be libstart. */

/* Open `path`. The list is read only where there is a link in the path; without one links are followed as open(2)
 * does. flags: O_PATH and the like; O_CLOEXEC is added. -1 on errors. */
int host_path_open(const char *path, int flags, const HostAccess *access, GError **error);

/* Is something there, and will it be the same for who opens it by this name later? Not where a payload can write to a
 * directory on the way. The directory itself in which it may write stays what it is. */
bool host_path_check_name(const char *path, const char *untrusted_list, GError **error);

/* Read a whole file; a FIFO is refused where there is a list or an owner, as nobody may ever write to it. Transfer
 * full. */
bool host_path_read(const char *path, const HostAccess *access, char **ret_content, gsize *ret_length,
                    GError **error);
