/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

bool handle_memory(Container *container, const Key *key, const Value *value, GError **error);
bool handle_pids_limit(Container *container, const Key *key, const Value *value, GError **error);

/* The settings of [Service] that Podman makes with a cgroup of the container's own: processes and memory. The payload
 * is in its unit's cgroup, so systemd limits it. After the keys of [Container] have been handled. */
void cgroup_limits_service(Container *container);
