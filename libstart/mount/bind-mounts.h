/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"
#include "libstart/userns/user-namespace.h"

/* Volumes and other bind mounts that see no mounts that are made later, which is the default. */

typedef struct BindMountContext {
        int root_fd;                     /* the container's root; -1: this is not the container's process */
        const ContainerRequest *request; /* the limits of overlays, the stores of images, and where sources may be */
        const UserNamespace *userns;     /* the container's */
        MountLabel label;                /* of new file systems */
        bool is_shared;                  /* mounts of this namespace may still be shared with the host's */
} BindMountContext;

/* The source, looked up among the host's files as host-path.h has it: O_PATH, or -1. A mount that a user asks for
 * must not be freer than the one that its source is on: it gets the options for that. */
int bind_mount_open_source(const BindMountContext *context, ContainerMount *mount, GError **error);

/* A detached mount of the source, with the mount's flags; -1 on errors. */
int bind_mount_clone(const BindMountContext *context, ContainerMount *wanted, GError **error);

/* Put that on the destination, which is looked up below root_fd, where an empty file or directory is made if nothing
 * is there. */
bool bind_mount_attach(const BindMountContext *context, const ContainerMount *wanted, int mount, GError **error);
