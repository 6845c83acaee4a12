/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/option/request.h"
#include "libstart/run/mount-label.h"
#include "libstart/run/user-namespace.h"

/* Volumes and other bind mounts that see no mounts that are made later, which is the default. */

/* Whether bind_mount_make() can make this one. */
bool bind_mount_is_private(const runtime_spec_schema_defs_mount *mount);

/* Whether nobody else can make it: for libcrun it would be a bind mount of all of the source, which the payload could write
 * to. */
bool bind_mount_is_special(const ContainerRequest *container, const runtime_spec_schema_defs_mount *mount);

typedef struct BindMountContext {
        int root_fd;                     /* the container's root */
        const ContainerRequest *request; /* the mounts that a user asks for, and where their sources may be */
        int layer;                       /* writable layer, for overlays of sources */
        const UserNamespace *userns;     /* the container's */
        const int *prepared;             /* of each mount: prepared-mounts.h; NULL: there are none */
        MountLabel label;                /* of new file systems */
        bool is_shared;                  /* mounts of this namespace may still be shared with the host's */
} BindMountContext;

/* The source, looked up among the host's files as host-path.h has it: O_PATH, or -1. A mount that a user asks for must not
 * be freer than the one that its source is on: it gets the options for that. */
int bind_mount_open_source(const BindMountContext *context, runtime_spec_schema_defs_mount *mount, GError **error);

/* How its owners are to be mapped (MountRequest.id_map), or NULL. */
const char *bind_mount_find_id_map(const BindMountContext *context, const runtime_spec_schema_defs_mount *mount);

/* Give the mount the options for what its source is under: flags of statvfs(3). */
void bind_mount_restrict(runtime_spec_schema_defs_mount *mount, unsigned long flags);

/* A detached mount of the source, with the mount's flags; -1 on errors. */
int bind_mount_clone(const BindMountContext *context, runtime_spec_schema_defs_mount *wanted, GError **error);

/* Put that on the destination, which is looked up below root_fd, where an empty file or directory is made if nothing is
 * there. */
bool bind_mount_attach(const BindMountContext *context, const runtime_spec_schema_defs_mount *wanted, int mount,
                       GError **error);

/* Both. The destination is looked up below root_fd, where an empty file or directory is made if nothing is there. */
bool bind_mount_make(const BindMountContext *context, runtime_spec_schema_defs_mount *wanted, GError **error);
