/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum NetworkMode {
        NETWORK_HOST,
        NETWORK_NONE,      /* loopback only */
        NETWORK_PINNED,    /* what keyturn-network has made ahead, by name: PATH_NETWORK/NAME */
        NETWORK_PATH,      /* the namespace that a file is */
        NETWORK_CONTAINER, /* that of another container of keyturn's, by its state directory's name */
} NetworkMode;

/* What the container joins. */
typedef struct NetworkChoice {
        NetworkMode mode;
        const char *of; /* the name or the path; NULL with host and none */
        bool is_owned;  /* a pinned one that belongs to the container's user namespace, which is pinned, too */
} NetworkChoice;

/* "host", "none", "pinned:NAME", "owned:NAME", "ns:PATH", "container:UNIT"; ret->of is inside value. Everything else
 * that podman knows is the generator's to make one of these of: KT_ERROR_UNSUPPORTED, with advice. */
bool network_mode_parse(const char *value, NetworkChoice *ret, GError **error);
