/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* User namespaces without a process in them, by their descriptors. */

/* Whoever is root in our user namespace, with whatever capabilities, may do everything to a process in one below:
 * trace it, and get at the host's files by its root directory (user_namespaces(7)). A container that sees this
 * process (--pid=host) must not, so it is not dumpable from here on, whatever namespace it enters: that takes
 * CAP_SYS_PTRACE here. */
void userns_hide_process(void);

/* Makes one with these maps (id-map.h), in the name of `maker` (userns-maker.h; 0: of root, for mounts). It ends with
 * its descriptor, and the mounts that use it. -1 on errors. 0.1 ms, whatever the size of the calling process. */
int userns_descriptor_make(const GArray *uids, const GArray *gids, uid_t maker, GError **error);

/* The maps of a namespace, as they are seen from ours. Transfer full. */
bool userns_descriptor_read(int fd, GArray **ret_uids, GArray **ret_gids, GError **error);

/* Maps of a namespace below this process's own in which every id is what it is here. Transfer full. */
bool userns_descriptor_read_own(GArray **ret_uids, GArray **ret_gids, GError **error);

/* The ids of this process's own namespace but 0: arrays of IdRange. Transfer full. */
bool userns_descriptor_read_further(GArray **ret_uids, GArray **ret_gids, GError **error);

/* The same maps in pieces that the kernel takes below this process's own namespace: there, each lies in one. */
bool userns_descriptor_split(GArray **uids, GArray **gids, GError **error);
