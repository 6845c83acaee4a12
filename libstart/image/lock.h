/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* One at a time brings an image of a name: whoever has the lock. With it comes what is known of the name: the digest of an
 * image that was brought, did not work, and was rolled back. It is not brought again by itself. */

/* Waits. Returns a descriptor, or -1 with an error; closing it gives the lock back. */
int image_lock(const char *name, GError **error);

/* The rejected digest, or NULL. Transfer full. */
char *image_lock_rejected(int lock);

/* NULL: none. */
bool image_lock_reject(int lock, const char *digest, GError **error);
