/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* The settings of [Service] that Podman makes with a cgroup of the container's own: processes and memory. The payload
 * is in its unit's cgroup, so systemd limits it. After the keys of [Container] have been handled. */
void cgroup_limits_service(Container *container);
