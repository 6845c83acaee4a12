/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/root/root.h"
#include "libstart/systemd/systemd-notify.h"
#include "libstart/userns/user-namespace.h"

/* A user's container with ids of its own (UserNS=keep-id and the like) sees its image's files with other owners. For
 * root a mount does that. The kernel lets no user map the owners of a disk's files (mount_setattr(2), EPERM), so
 * there is a copy of the image, with these owners, which its overlay has as its only layer.
 *
 * In PATH_COPIES, which is the user's:
 *   KEY            a copy: the image's tree. KEY is a hash of the image's id and of the maps
 *   .new           one that is being made; it is renamed when it is whole, and on the disk
 *   .old-KEY       one that goes
 *   .units/UNIT    a line: the KEY that the container of this service has
 *
 * A start writes the KEY that it uses to .copy in the container's directory on /run, which goes when that stops. What
 * no unit and no start names is removed. Starts take the lock of the directory together; who removes, alone, and only
 * to rename. Who makes copies has the lock of .units: there is one at a time. */

/* libstart copy: makes the copy for the container of this unit, if it is not there, and removes what nobody wants. */
bool image_copy_make(const char *unit, Root *root, const UserNamespace *userns, GError **error);

/* Removes what nobody wants, and PATH_COPIES where nothing is left. */
bool image_copy_clean(GError **error);

/* This unit's container needs none until it starts again: an instance, of which there may be any number. */
bool image_copy_forget(const char *unit, GError **error);

/* For a start: the directory. Where it is not there, as the image is another one, it waits until the unit's
 * keyturn-copy@ has made it, and systemd hears that this lasts. directory: the container's on /run. Transfer full;
 * NULL on errors. */
char *image_copy_find(const char *unit, const char *directory, const Root *root, const UserNamespace *userns,
                      Notify *systemd, GError **error);
