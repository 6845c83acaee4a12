/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The writable layer of a container, filled before it is mounted: what Podman mounts over single files (/etc/hosts
 * and the like) is simply written here. A directory of this layer hides the image's attributes of the same directory,
 * so each is made with those of the uppermost layer that has it. */

/* Make the empty layer `path`, whose mode and owner become those of the container's "/". */
bool upper_layer_create(const char *path, char *const *layers, GError **error);

/* Write directory/name ("etc", "hosts") into the layer at `path`; `target` not NULL makes a symbolic link
 * instead, where the image has nothing of that name.
 * Where the image has something else than a directory in that place, nothing is written. */
bool upper_layer_add(const char *path, char *const *layers, const char *directory, const char *name,
                     const char *content, const char *target, GError **error);
