/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define ULIMIT_UNLIMITED G_MAXUINT64

typedef struct Ulimit {
        const char *type; /* "RLIMIT_NOFILE": static; NULL for "host": libstart's own limits */
        guint64 soft, hard;
} Ulimit;

/* NAME=SOFT[:HARD] or "host", as podman's --ulimit; -1 or "unlimited" for no limit. */
bool ulimit_parse(const char *value, Ulimit *ret, GError **error);
