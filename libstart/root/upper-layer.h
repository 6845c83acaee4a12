/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/writable-layer.h"
#include "libstart/userns/user-namespace.h"

/* The uppermost layer of a container's overlay, filled before it is mounted: what Podman mounts over single files
 * (/etc/hosts and the like) is simply written here. A directory of this layer hides the image's attributes of the
 * same directory, so each is made with those of the uppermost layer that has it: `userns` says who that is here, NULL
 * that it is the same. The process must have umask 0. */

/* Make the empty directories `upper`, whose mode and owner become those of the container's "/", and `work`. */
bool upper_layer_create(WritableLayer *layer, char *const *layers, const UserNamespace *userns, GError **error);

/* Make the directory `name` ("etc") in the layer `upper`. *ret_fd is it, or -1 where the image has something else
 * than a directory in that place, which is then left as it is. */
bool upper_layer_add_directory(int upper, char *const *layers, const char *name, const UserNamespace *userns,
                               int *ret_fd, GError **error);

/* A file of mode 0644 in a directory from there. */
bool upper_layer_add_file(int directory_fd, const char *name, const char *content, size_t length, GError **error);
