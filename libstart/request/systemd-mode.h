/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Is the payload an init, which needs more than others? podman's --systemd. */
typedef enum SystemdMode {
        SYSTEMD_AUTO, /* if its command is called like one */
        SYSTEMD_ALWAYS,
        SYSTEMD_NEVER,
} SystemdMode;

bool systemd_mode_parse(const char *value, SystemdMode *ret, GError **error);

/* The payload's words, NULL-terminated. Podman's rule: /sbin/init, also below /usr and /usr/local, and every program
 * whose name is systemd; behind a "/bin/sh -c" as well. */
bool systemd_mode_applies(SystemdMode mode, const char *const *words);
