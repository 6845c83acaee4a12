/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/runtime/runtime-container.h"

/* What the container's root and its bind mounts are made of, where only this process and its children see it: in a
 * mount namespace of its own, which is gone with the last of them. A runtime knows only paths, and follows what is at
 * them by then; so each mount is made here, by keyturn's rules (mount/bind-mounts.h: owners that are mapped,
 * overlays, images, places that payloads can write to), and put below `directory`, which is made. The spec's mounts
 * are bind mounts of that afterwards. Where a link of the image's leads a mount to what the kernel shows, that is an
 * error. */
bool program_mounts_make(const RuntimeContainer *container, const char *directory, GError **error);

/* Takes away what that has put on directories of the host's, so that this process can remove them. */
void program_mounts_detach(const RuntimeContainer *container, const char *directory);
