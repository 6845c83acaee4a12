/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* Volumes and other bind mounts that see no mounts that are made later, which is the default. */

/* Whether bind_mount_make() can make this one. */
bool bind_mount_is_private(const runtime_spec_schema_defs_mount *mount);

typedef struct BindMountContext {
        int root_fd;                /* the container's root */
        const char *untrusted_list; /* for looking up sources, see host-path.h */
        bool is_shared;             /* mounts of this namespace may still be shared with the host's */
} BindMountContext;

/* The source is looked up among the host's files, as host-path.h has it; the destination below root_fd, where an empty
 * file or directory is made if nothing is there. */
bool bind_mount_make(const BindMountContext *context, const runtime_spec_schema_defs_mount *wanted, GError **error);
