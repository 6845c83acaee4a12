/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* ImageVolume=bind: what an image declares as VOLUME is kept on the disk, as a named volume of this container's. */

/* The volume's name: that of the container, "_image-", and the path with '-' for '/'. Other characters are escaped
 * ("_2d"), so that no two pairs of container and path have the same name, whatever an image says: none gets at
 * another container's files. path: as in image-config.h. Transfer full. */
char *kept_volume_name(const char *container, const char *path);

/* Adds a mount to `mounts` (of MountRequest) for each of `paths` (may be NULL) where none of them is already. */
bool kept_volumes_add(GPtrArray *mounts, const char *container, char *const *paths, GError **error);
