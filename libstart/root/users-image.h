/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/root/root.h"
#include "libstart/userns/owner.h"
#include "libstart/userns/user-namespace.h"

/* The image of a container with User= in [Service] and Store=user: in the user's own store, as rootless Podman has
 * left it there.
 *
 * Store, storage.conf and layers are hers: whatever is there she can replace at any moment, so root reads nothing of
 * it and names nothing in it. A child of this process closes its descriptors, but the answer's way, and becomes her,
 * root of the user namespace that the container is to have and of nothing else, with her groups. It looks for the
 * image, opens the layers, and merges them: an overlay that nobody can write to, whose mounter is she. To the kernel
 * each look into a layer is then hers, whoever makes it. Root gets
 *   - that mount, attached nowhere, over which it puts the writable layer as over Rootfs=DIR:O;
 *   - what the image says of itself, as plain text (image-message.h).
 *
 * Her layers have the ids of the namespace on the disk already: nothing is mapped. It is done at each start, as the
 * search in the system's stores is: what was found ahead would be another image by the next pull, and a mount that
 * waits for a start needs somebody who holds it.
 *
 * She may signal the child, change the store under it, or have a file system of her own there (FUSE), and so keep her
 * own container from starting: after WAIT_SEC the start fails. Nobody waits for a child that cannot be killed. */

/* KT_ERROR_NOT_FOUND: it is not in her store. */
bool users_image_find(const ContainerRequest *request, const Owner *owner, const UserNamespace *userns, Root *ret,
                      GError **error);
