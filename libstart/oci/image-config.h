/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What an image says about how it wants to be run: the "config" object of an OCI or a Docker image
 * config, which agree in all of this. What the image does not say is NULL; an empty list counts as not
 * said. A root directory that is no image has an empty one. */
typedef struct ImageConfig {
        char *user;        /* USER[:GROUP] */
        char *working_dir; /* absolute */
        char *stop_signal;
        char **entrypoint;
        char **cmd;
        char **env;     /* NAME=VALUE, in the image's order */
        char **volumes; /* absolute paths without "." and "..", sorted, each once */
        char **labels;  /* KEY=VALUE, sorted */
} ImageConfig;

/* Fails with KT_ERROR_FAILED if json is not the config of an image, or has paths that are not absolute.
 * Transfer full. */
ImageConfig *image_config_parse(const char *json, GError **error);

/* The value of a label; NULL where there is none. */
const char *image_config_find_label(const ImageConfig *image, const char *key);

void image_config_free(ImageConfig *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImageConfig, image_config_free)
