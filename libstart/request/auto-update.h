/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* AutoUpdate=. With Podman it is a label and nothing else, and so it is here: for `keyturnctl update`. */
#define AUTO_UPDATE_LABEL "io.containers.autoupdate"

bool auto_update_check(const char *policy, GError **error);

/* The policy among a container's labels: "registry", "image" (the same) or "local". NULL where there is none, or it
 * means that nothing is updated. */
const char *auto_update_find(const GPtrArray *labels);
