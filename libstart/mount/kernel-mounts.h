/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/oci/mount-plan.h"

/* The kernel's file systems that every container has: /proc, /dev with what has to be in it, /sys. */

/* Remember the device numbers of those of the plan, which are made. */
void kernel_mounts_note(MountPlan *plan, int root_fd);

/* Whether they still are where they were: a later mount, for which a link was followed, may lie on top of one. */
bool kernel_mounts_check(const MountPlan *plan, int root_fd, GError **error);

/* A detached mount of such a file system, /dev with all that is in it; -1 on errors. For a container whose processes
 * may not do that themselves. */
int kernel_mount_make_detached(const ContainerMount *wanted, const MountLabel *label, GError **error);
bool kernel_mount_attach(int root_fd, const ContainerMount *wanted, int mount, GError **error);

/* Changes the working directory. They must come in the plan's order, parents first. */
bool kernel_mount_make(int root_fd, const ContainerMount *wanted, const MountLabel *label, GError **error);
