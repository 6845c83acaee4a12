/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/run/mount-label.h"

/* The kernel's file systems that every container has: /proc, /dev with what has to be in it, /sys. */

/* Whether kernel_mount_make() can make this one. cgroup2: the host has the unified hierarchy and nothing else. */
bool kernel_mount_is_known(const runtime_spec_schema_defs_mount *mount, bool cgroup2);

/* The device numbers of those of the first n mounts that are there now, 0 for others. Transfer full. */
dev_t *kernel_mounts_devices(int root_fd, runtime_spec_schema_defs_mount *const *mounts, size_t n);

/* Whether they still are where they were: a later mount, for which a link was followed, may lie on top of one. */
bool kernel_mounts_check(int root_fd, runtime_spec_schema_defs_mount *const *mounts, size_t n, const dev_t *devices,
                         GError **error);

/* A detached mount of such a file system, /dev with all that is in it; -1 on errors. For a container whose processes may
 * not do that themselves. */
int kernel_mount_make_detached(const runtime_spec_schema_defs_mount *wanted, const MountLabel *label, GError **error);
bool kernel_mount_attach(int root_fd, const runtime_spec_schema_defs_mount *wanted, int mount, GError **error);

/* Changes the working directory. The mounts of the spec must come in its order, parents first. */
bool kernel_mount_make(int root_fd, const runtime_spec_schema_defs_mount *wanted, const MountLabel *label,
                       GError **error);
