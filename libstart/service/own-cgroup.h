/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who can write to the cgroup that a cgroup namespace of his begins in can lift its limits, MemoryMax= and the like:
 * "nsdelegate" forbids that only to those whose own namespace begins there, and a second one, made a cgroup further
 * below, does not. An init has that file system; a payload that is root mounts it in a user namespace of its own. So
 * it gets a cgroup below the service's, and nobody sees the service's from there. How many cgroups it can make is
 * limited: systemd walks through them. */
#define OWN_CGROUP "payload"

/* Make that cgroup. *ret is open on it, or -1 where limits are those of cgroup v1, which no payload can mount. Fails
 * where it cannot. */
bool own_cgroup_make(int *ret, GError **error);

/* Go into it; that may take 10 ms. */
bool own_cgroup_join(int cgroup, GError **error);

/* Both, for an init, with the controllers that systemd has delegated. `uid`, `gid`: the host's ids of the container's
 * root, whose it becomes. */
bool own_cgroup_enter(uid_t uid, gid_t gid, GError **error);
