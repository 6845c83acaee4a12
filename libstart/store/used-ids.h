/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/store-conf.h"

/* What containers-storage notes about user and group ids: which ones podman has given to containers, and which ones
 * the files of a layer have. For whoever gives ids to containers, too, which is not done in a start. */

typedef struct IdRange {
        guint32 first;
        guint32 count;
} IdRange;

/* Adds the host's ids that containers and their copies of layers have, of all stores that podman writes to (arrays of
 * IdRange). A missing list counts as empty; a list that is not understood is KT_ERROR_FAILED.
 *
 * is_users: of a user's Podman. There, keep-id gives each container all ids, which are nobody's alone, and copies of
 * layers stay when their container has gone: neither counts. */
bool used_ids_read(const StoreConf *conf, bool is_users, GArray *uids, GArray *gids, GError **error);

/* The same from the text of a containers.json or layers.json. Pure. */
bool used_ids_parse(const char *text, size_t length, bool is_users, GArray *uids, GArray *gids, GError **error);

/* Raises *behind to one more than the largest id that a file has in layers (directories, as store_image_find() has
 * them), as far as their stores say so. */
bool used_ids_of_layers(char *const *layers, guint32 *behind, GError **error);
