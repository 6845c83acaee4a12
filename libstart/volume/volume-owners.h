/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"
#include "libstart/root/root.h"

/* A volume of the image's, or one without a name, is a file system in memory where the root cannot be written to.
 * This gives each the owner that its directory has in the root, as Podman's have: the payload may be no other than
 * that. */
bool volume_owners_set(const MountPlan *plan, const ContainerRequest *request, const Root *root,
                       const UserNamespace *userns, GError **error);
