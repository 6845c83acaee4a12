/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Mount the layers (directories, uppermost first, NULL-terminated) with the writable layer `upper` on top; upper and
 * work may be NULL: then nothing can be written (two layers at least).
 *
 * Returns a descriptor of a mount that is attached nowhere, so that the host never sees it and nothing is left to
 * unmount; or -1. Linux 6.8 has all that it takes. Where it is older, the mount is made with mount(2) in a new mount
 * namespace that this process then lives in, on the directory `target`; *ret_attached says which it was. */
int overlay_mount(char *const *layers, const char *upper, const char *work, const char *target, bool *ret_attached,
                  GError **error);

/* Whether overlay_mount() makes such a detached mount on this kernel. */
bool overlay_is_detached(void);

/* The options of mount(2) for the same, with ':' ',' and '\' in the paths escaped. Transfer full; for tests. */
char *overlay_options(char *const *layers, const char *upper, const char *work);
