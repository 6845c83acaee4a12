/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The secrets that `podman secret create` keeps on this machine, which are only read. */

/* The value of the secret that has this name, this id, or the only id that begins so. Only secrets of the driver
 * "file" can be read, the default one: another is KT_ERROR_UNSUPPORTED. If there is none, *ret_value is NULL, without
 * an error.
 *
 * A NUL stands behind the value.
 *
 * root: "" or a directory that stands for / (tests). *ret_store: where Podman keeps them, for messages. Both transfer
 * full; release the value with secret_value_free(). */
bool podman_secret_find(const char *root, const char *name, char **ret_value, gsize *ret_length, char **ret_store,
                        GError **error);

/* Leaves nothing of it in memory. */
void secret_value_free(char *value, gsize length);
