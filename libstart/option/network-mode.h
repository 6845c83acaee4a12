/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum NetworkMode {
        NETWORK_HOST,
        NETWORK_NONE,
} NetworkMode;

/* "host" or "none". Everything else that podman knows is KT_ERROR_UNSUPPORTED, with advice. */
bool network_mode_parse(const char *value, NetworkMode *ret, GError **error);
