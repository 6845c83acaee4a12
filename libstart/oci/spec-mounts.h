/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/oci/spec-input.h"

bool spec_add_mounts(runtime_spec_schema_config_schema *spec, const SpecInput *input, GError **error);

/* Refuses a path in a mount with shared propagation: what a start mounts there would be mounted on the host, too, and
 * outlive the container. `what` begins the message. Links are not followed. */
bool spec_check_not_shared(runtime_spec_schema_defs_mount *const *mounts, size_t length, const char *path,
                           const char *what, GError **error);
