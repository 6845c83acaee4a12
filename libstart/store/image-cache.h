/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/store/image.h"

/* store_conf_load() and store_image_find() with the result remembered in the directory run_dir (PATH_IMAGES;
 * created when missing), one file per reference. A remembered image is used as long as storage.conf and every
 * images.json that was consulted are the same files, unchanged; then neither is read. A file that is missing,
 * damaged or out of date costs only the time of a new search, and failing to write one is not an error.
 *
 * root: as in store_conf_load(); not applied to run_dir. Errors: as those two functions. */
StoreImage *store_image_find_cached(const char *run_dir, const char *root, const char *reference, GError **error);
