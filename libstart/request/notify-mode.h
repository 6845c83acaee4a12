/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Who says READY=1 to systemd; podman's --sdnotify. */
typedef enum NotifyMode {
        NOTIFY_CONMON,    /* libstart, once the payload was executed (to podman: its monitor) */
        NOTIFY_CONTAINER, /* the payload, on a socket that the relay reads */
        NOTIFY_HEALTHY,   /* the first health check that succeeds */
        NOTIFY_IGNORE,    /* nobody, and the payload sees no socket */
} NotifyMode;

bool notify_mode_parse(const char *value, NotifyMode *ret, GError **error);
