/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/request.h"
#include "libstart/root/root.h"
#include "libstart/systemd/systemd-notify.h"

/* What the mounts that a user asks for need before they can be made. */

/* Finishes the request's list of them: a glob becomes bind mounts of the paths that it matches, as far as the owner
 * sees them; an artifact, its files; the image's volumes are added where they are kept. *ret_volumes is the directory
 * of the volumes (volume.h), where one has a name, else NULL. Transfer full. */
bool requested_mounts_find(const ContainerRequest *request, const Root *root, char **ret_volumes, GError **error);

/* Volumes are there, and used for the first time if they have not been; places for those without a name; owners are
 * as asked for (U). */
bool requested_mounts_prepare(const ContainerRequest *request, const char *volumes, const Root *root,
                              const UserIdentity *user, GError **error);

/* Label the sources of those mounts that ask for it (z, Z) as the container's files: `label`, NULL for none. systemd
 * hears how far it is, and waits. */
bool requested_mounts_relabel(const ContainerRequest *request, const char *volumes, const char *label,
                              Notify *systemd, GError **error);
