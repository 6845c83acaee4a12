/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/bind-mounts.h"
#include "libstart/oci/mount-plan.h"

/* Volumes that are shared with the host: all that is mounted in one is mounted there, too, and stays. A link of the
 * image's, or whoever exchanges directories in another volume, could lead any mount of the start there. So their
 * places are opened while none of them is in the root, and they are mounted after everything else, masks included. */

/* After all other mounts. Refuses two on one place, and one on the root. */
bool shared_mounts_open(MountPlan *plan, const BindMountContext *context, GError **error);

/* After the masks. Fails where one of them hides another mount of the plan's. cwd: as in mounts.h. */
bool shared_mounts_make(MountPlan *plan, const BindMountContext *context, const char *cwd, GError **error);
