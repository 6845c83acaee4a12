/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/oci/mount-plan.h"
#include "libstart/oci/spec-input.h"

/* What only Linux has: namespaces, kernel parameters, masked and read-only paths. */
bool spec_add_linux(runtime_spec_schema_config_schema *spec, const SpecInput *input, const MountPlan *mounts,
                    GError **error);
