/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Options that are one of a few words. */

typedef enum NetworkMode {
        NETWORK_HOST,
        NETWORK_NONE,
} NetworkMode;

/* "host" or "none". Everything else that podman knows is KT_ERROR_UNSUPPORTED, with advice. */
bool network_mode_parse(const char *value, NetworkMode *ret, GError **error);

/* Who says READY=1 to systemd; podman's --sdnotify. */
typedef enum NotifyMode {
        NOTIFY_CONMON,    /* libstart, once the payload was executed (to podman: its monitor) */
        NOTIFY_CONTAINER, /* the payload, on a socket that the relay reads */
        NOTIFY_IGNORE,    /* nobody, and the payload sees no socket */
} NotifyMode;

bool notify_mode_parse(const char *value, NotifyMode *ret, GError **error);
