/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/oci/spec-input.h"

/* The spec's process: arguments, environment, user, capabilities, limits. */
void spec_add_process(runtime_spec_schema_config_schema *spec, const SpecInput *input);

/* The capabilities of a container's bounding set, for SpecInput: what is asked for, as far as the machine has it, and
 * the label of the container or the image wants it. */
bool spec_find_capabilities(const ContainerRequest *request, const ImageConfig *image, const HostFacts *host,
                            guint64 *ret_bounding, GError **error);
