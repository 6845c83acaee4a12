/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* Forbids this process's cgroup, and so its container, all devices but the harmless ones that systemd's
 * DevicePolicy=closed allows, those of `nodes` (of DeviceNode), what `rules` (of DeviceRule) allow, and the spec's
 * devices and rules. A hook may have added a node alone, which would be of no use. What else forbids something stays.
 * It lasts as long as the cgroup, unless this is called again. */
bool device_guard_set(const GPtrArray *nodes, const GArray *rules, const runtime_spec_schema_config_linux *linux_,
                      GError **error);
