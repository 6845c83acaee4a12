/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/request/storage-option.h"

/* What a container writes outside of its volumes: a tmpfs of its own, attached nowhere on the host. */
typedef struct WritableLayer {
        int mount; /* the tmpfs */
        int upper; /* directories in it, if an overlay is to be made of it (root/upper-layer.h) */
        int work;
} WritableLayer;

#define WRITABLE_LAYER_NULL { .mount = -1, .upper = -1, .work = -1 }

/* An empty one. What `wanted` does not say is the default. */
bool writable_layer_make(const StorageLimits *wanted, const MountLabel *label, WritableLayer *ret, GError **error);

/* Behind an error about writing: what to do where there is no room (ENOSPC), else "". */
const char *writable_layer_hint(int errnum);

/* Upper and work, which an overlay now has. The mount itself is better given to the container's process, to go with
 * the rest of the host's: the last to close one that is attached nowhere waits for the kernel to forget it (40 us and
 * more). */
void writable_layer_close_directories(WritableLayer *layer);

void writable_layer_close(WritableLayer *layer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WritableLayer, writable_layer_close)
