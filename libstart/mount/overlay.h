/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/writable-layer.h"

/* Mount the layers (directories, uppermost first, NULL-terminated) with the writable layer on top (upper-layer.h); or
 * NULL: then nothing can be written (two layers at least). No device node in it can be opened.
 *
 * userns_fd: a user namespace that the layers' owners are mapped for (id-mapped-mount.h); -1: they stay. What is to
 * be written must have the mapped ones.
 *
 * Returns a descriptor of the mount, which is attached nowhere, or -1. Linux 6.15 has all that it takes to attach
 * nothing at all. Where it is older, this process gets a mount namespace of its own, in which the writable layer is
 * attached to the directory `target`, until it ends or unmounts that; *ret_attached says so, also on errors. */
int overlay_mount(char *const *layers, const WritableLayer *layer, int userns_fd, const MountLabel *label,
                  const char *target, bool *ret_attached, GError **error);

/* The same over one layer that is a mount attached nowhere, as somebody else has made it. */
int overlay_mount_above(int lower, const WritableLayer *layer, const MountLabel *label, const char *target,
                        bool *ret_attached, GError **error);

/* Two layers at least, as one that nobody can write to: a mount that is attached nowhere, to be given to another
 * process. The mount namespace is this process's alone; before Linux 6.8 `target` is mounted on there for a moment.
 * Returns a descriptor, or -1. */
int overlay_merge(char *const *layers, const char *target, GError **error);

/* Whether overlay_mount() makes such a mount that is attached nowhere, with that layer, on this kernel. */
bool overlay_is_detached(const WritableLayer *layer);

/* A mount, attached nowhere, of `lower` with what is written in `upper`; `work` is empty. All are descriptors of
 * directories, whose mounts are attached in this mount namespace. Returns a descriptor, or -1. */
int overlay_mount_over(int lower, int upper, int work, const MountLabel *label, GError **error);

/* The options of mount(2) for the same, with ':' ',' and '\' in the paths escaped. Transfer full; for tests. */
char *overlay_options(char *const *layers, const char *upper, const char *work);
