/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What the directories are that an image declares as VOLUME. */
typedef enum ImageVolumes {
        IMAGE_VOLUMES_ANONYMOUS, /* writable, and gone when the container stops */
        IMAGE_VOLUMES_KEPT,      /* named volumes of the container's (volume/kept-volumes.h) */
        IMAGE_VOLUMES_TMPFS,     /* a tmpfs each, with a copy of what the image has there */
        IMAGE_VOLUMES_IGNORED,   /* directories like others */
} ImageVolumes;

/* podman's --image-volume: "anonymous", "bind" (kept), "tmpfs", "ignore". */
bool image_volume_parse(const char *value, ImageVolumes *ret, GError **error);
