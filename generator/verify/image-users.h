/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Does an image with these layers have the user (USER[:GROUP], as `podman run --user`)? Also true where that cannot
 * be told from the layers' files alone. */
bool image_users_check(char *const *layers, const char *user, GError **error);

/* USER of an image's configuration (JSON), or NULL. Transfer full. */
char *image_users_default(const char *config);
