/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_cgroups_mode, handle_memory, handle_pids_limit;

/* --memory-swap: how much memory and swap together; "-1" for no limit. */
bool cgroup_limits_set_memory_swap(Conversion *container, const char *value, GError **error);

/* PidsLimit= and Memory=: Podman sets them on a cgroup of the container's own. Here the payload is in its service's
 * cgroup, so they become settings of [Service]. Called after the keys of [Container] have been applied. */
void cgroup_limits_service(Conversion *container);
