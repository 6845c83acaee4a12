/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* Makes the nodes of the spec's linux.devices in the container's /dev, which must be the tmpfs of its own: a node
 * that is below another mount, or there already, is left out. One that is not below /dev is an error. */
bool made_nodes_make(int root_fd, const runtime_spec_schema_config_schema *spec, GError **error);
