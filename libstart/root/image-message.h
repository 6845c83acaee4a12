/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/health/image-health.h"
#include "libstart/oci/image-config.h"

/* What a process that has read a user's image tells root's about it. A parser of JSON is a larger thing than root
 * should point at what a user can write: here are texts, each with a NUL behind it, and nothing that nests. */
typedef struct ImageMessage {
        char *id; /* 64 hex digits */
        ImageConfig *config;
        ImageHealth *health; /* or NULL */
} ImageMessage;

/* Transfer full. */
GString *image_message_write(const char *id, const ImageConfig *config, const ImageHealth *health);

/* Whoever has written it: all that image_config_parse() promises of a config is looked at once more. */
bool image_message_read(const char *text, gsize length, ImageMessage *ret, GError **error);

void image_message_clear(ImageMessage *message);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ImageMessage, image_message_clear)
