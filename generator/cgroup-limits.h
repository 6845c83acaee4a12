/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

bool handle_memory(Container *container, const Key *key, const Value *value, GError **error);
bool handle_pids_limit(Container *container, const Key *key, const Value *value, GError **error);

/* PidsLimit= and Memory=: Podman sets them on a cgroup of the container's own. Here the payload is in its service's
 * cgroup, so they become settings of [Service]. Called after the keys of [Container] have been applied. */
void cgroup_limits_service(Container *container);
