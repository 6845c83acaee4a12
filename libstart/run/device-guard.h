/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Forbids this process's cgroup, and so its container, all devices but the harmless ones that systemd's
 * DevicePolicy=closed allows, those of `nodes` (of DeviceNode), and what `rules` (of DeviceRule) allow. What else forbids
 * something stays. It lasts as long as the cgroup, unless this is called again. */
bool device_guard_set(const GPtrArray *nodes, const GArray *rules, GError **error);
