/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What keyturn takes over from Podman, where Podman's generator reads the same files: keyturn-generator(8), BESIDE
 * PODMAN. The generator itself says which; nothing is written. */

/* One service. */
typedef struct Taken {
        char *unit;
        const char *handover; /* "restart": Podman has started what runs; "start": it does not run; "done" */
} Taken;

/* Of the machine, or the tree below root: there nothing runs. search_path: as for load_sources(). Array of Taken,
 * which is empty where Podman's generator is not active; NULL with an error. */
GPtrArray *takeover_find(const char *generator, const char *root, const GPtrArray *search_path, GError **error);

/* "restart" and so on, or NULL for what is not taken. */
const char *takeover_get(const GPtrArray *all, const char *unit);

/* A line for each, and nothing where there is none; or a JSON array. */
void takeover_print(const GPtrArray *all, bool json);
