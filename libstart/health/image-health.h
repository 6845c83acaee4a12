/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* HEALTHCHECK of an image: of Docker's format alone, as OCI's has none. */
typedef struct ImageHealth {
        char **test; /* NONE; CMD and words; CMD-SHELL and text */
        /* microseconds; 0: not said */
        guint64 interval, timeout, start_period;
        guint retries;
} ImageHealth;

/* Of an image's config. NULL without an error where it names none. Transfer full. */
ImageHealth *image_health_parse(const char *json, GError **error);

void image_health_free(ImageHealth *health);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImageHealth, image_health_free)
