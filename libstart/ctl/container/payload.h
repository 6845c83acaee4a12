/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <libcrun/container.h>
#include <stdbool.h>

#include "libstart/ctl/container/container-units.h"

/* The payload of a running container, from outside.
 *
 * The threat: it can end at any time, and its number be another process's; it can call chroot(2), rename and replace
 * all its files; and whatever is opened by way of /proc/PID/root follows its links into the host. So it is held by a
 * descriptor, and its files are reached from the root of its mount namespace, which it cannot move. But it can leave
 * that for another, see payload_is_in_place(). */

/* That its service runs; a reload may be what asks (ReloadCmd=). */
bool payload_check_running(const ContainerUnit *container, GError **error);

/* A pidfd of it; -1 with an error, KT_ERROR_NOT_FOUND where it does not run (any more). */
int payload_open(const ContainerUnit *container, GError **error);

/* Is it one of its unit's? Errors as above. */
bool payload_has_process(const ContainerUnit *container, guint pid, GError **error);

/* Of what was found by its number: the number is its own still. Errors as above. */
bool payload_check_lives(const ContainerUnit *container, int payload, GError **error);

/* The OCI configuration that it was started with, as libstart left it. Free with libcrun_container_free(). */
libcrun_container_t *payload_read_config(const ContainerUnit *container, GError **error);

/* Of that; borrowed, or NULL. */
const char *payload_find_annotation(const libcrun_container_t *config, const char *key);

/* gVisor's, whose files nobody sees from outside. */
bool payload_is_in_sandbox(const ContainerUnit *container);

/* The root of its mount namespace (O_PATH), for openat2(2) with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS. clone: a
 * copy of the whole tree of mounts, attached nowhere, in its place. The files of one in gVisor's sandbox are not
 * there: what is there is the sandbox's own root. */
int payload_open_files(const ContainerUnit *container, int payload, bool clone, GError **error);

/* Is its mount namespace the one that it was started in? In a user namespace of its own, which anybody may make, it
 * mounts what it likes over what it has written. From there it cannot come back, so this is asked after its files
 * were opened. If not, a warning says so. */
bool payload_is_in_place(const ContainerUnit *container, const libcrun_container_t *config);

/* A regular file in that root, as its payload sees it, links followed; NULL: there is none of at most 4 MiB. Nothing
 * else is opened, not even for a moment: to open a device can be an order to it. Transfer full. */
char *payload_read_file(int root, const char *path);
