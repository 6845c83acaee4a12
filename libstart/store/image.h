/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/store-conf.h"

/* An image that is ready to be mounted. Paths are absolute and include the root of the StoreConf. */
typedef struct StoreImage {
        char *id;            /* 64 hex digits */
        char *digest;        /* of the manifest that was used: "sha256:..." */
        char *name;          /* the name under which it was found, or the id */
        char *store;         /* the image store that it was found in */
        char **layers;       /* directories, uppermost first, at least one */
        char *config;        /* the image's configuration (JSON); its digest is the one the manifest names */
        bool writable_store; /* it is in the store that podman writes to, where `podman rmi` takes it away */
} StoreImage;

/* Finds the image of a reference in the stores of conf:
 *
 *   registry/name[:tag]          exactly that name; the tag is "latest" where none is given
 *   registry/name[:tag]@digest   the digest decides and the tag is ignored, as in podman
 *   name[:tag], name@digest      a short name: its alias in registries.conf, then localhost/NAME, then the
 *                                unqualified-search-registries, then docker.io/library/NAME
 *   sha256:ID, ID                an image id
 *   the beginning of an id       at least 12 digits, if no image has that name and no other id begins so
 *
 * seen: takes the files that the answer depends on beside conf->seen; NULL if that does not matter.
 *
 * Nothing is written and no lock is taken: podman replaces its files by rename, so each is whole, and if they
 * do not fit together because podman is at work they are read once more.
 *
 * Errors: KT_ERROR_NOT_FOUND with the names that were tried, the stores that were searched and what to do;
 * KT_ERROR_USAGE for what is no reference; KT_ERROR_UNSUPPORTED for layers that are not plain directories;
 * KT_ERROR_FAILED for a store that is damaged. */
StoreImage *store_image_find(const StoreConf *conf, const char *reference, Seen *seen, GError **error);

void store_image_free(StoreImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreImage, store_image_free)
