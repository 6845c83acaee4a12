/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Finds the directories of an image's layers.
 *
 * stores: the image stores in which a layer may be, that of the image first. podman pulls only the layers
 * that none of them has, so those of one image can be spread over several. top: id of the uppermost
 * layer. chain_ids: what the ids should be (layer_chain_ids()), lowermost first.
 *
 * Returns absolute paths, uppermost first, as many as chain_ids has; each was a directory when asked for.
 * Errors: KT_ERROR_FAILED where the store contradicts the image's configuration or a layer is missing;
 * KT_ERROR_UNSUPPORTED for composefs layers, layers of additional layer stores or of ids that the user has not, and
 * too many layers. Transfer full. */
char **layers_find(char *const *stores, const char *top, char *const *chain_ids, GError **error);
