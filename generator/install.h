/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/container.h"

typedef struct Link {
        char *path;   /* in the output directory: "multi-user.target.wants/foo.service" */
        char *target; /* relative to the link: "../foo.service" */
} Link;

/* The links that [Install] asks for: what `systemctl enable` would make, which does not work on generated
 * units. Of a template only with DefaultInstance=, but for Alias=. Problems go to the container. Transfer
 * full: of Link. */
GPtrArray *install_links(Container *container, const UnitNames *names);
