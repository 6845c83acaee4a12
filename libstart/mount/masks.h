/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/oci/mount-plan.h"

/* Hide the spec's masked paths, and make its read-only paths read-only (OCI runtime spec, linux.maskedPaths and
 * linux.readonlyPaths), below root_fd. A path that is not there needs neither. The last of all mounts: nothing that
 * is mounted later is masked. Fails where /proc or /sys should be the kernel's (spec's mounts) and is not.
 *
 * mounts: as mounts.h has made them. is_root_shared: as in mask-links.h. */
bool masks_make(int root_fd, const runtime_spec_schema_config_schema *spec, const MountPlan *mounts,
                bool is_root_shared, const MountLabel *label, GError **error);
