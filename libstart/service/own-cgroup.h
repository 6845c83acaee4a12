/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* A payload that is an init writes to its cgroup file system. Were that of the service itself the root of what it
 * sees, it would depend on how the host has mounted it (nsdelegate) whether it could lift MemoryMax= and the other
 * limits. So it gets a cgroup below the service's, and with it the controllers that systemd has delegated. How many
 * cgroups it can make there is limited. */
#define OWN_CGROUP "payload"

/* Make that cgroup, and go into it. `uid`, `gid`: the host's ids of the container's root, whose it becomes. Fails
 * where it cannot. */
bool own_cgroup_enter(uid_t uid, gid_t gid, GError **error);
