/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* Volumes and other bind mounts that see no mounts that are made later, which is the default. */

/* Whether bind_mount_make() can make this one. */
bool bind_mount_is_private(const runtime_spec_schema_defs_mount *mount);

/* The source is looked up among the host's files, the destination below root_fd, where an empty file or directory is
 * made if nothing is there. */
bool bind_mount_make(int root_fd, const runtime_spec_schema_defs_mount *wanted, GError **error);
