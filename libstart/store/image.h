/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/store-conf.h"

/* An image that is ready to be mounted. Paths are absolute and include the root. */
typedef struct StoreImage {
        char *id;            /* 64 hex digits */
        char *name;          /* the name under which it was found, or the id */
        char *store;         /* the image store that it was found in */
        char **layers;       /* directories, uppermost first, at least one */
        char *config;        /* the image's configuration (JSON), without the elements of its history; its
                              * digest was the image's id, or what the manifest names */
        bool writable_store; /* it is in the store that podman writes to, where `podman rmi` takes it away */
} StoreImage;

/* Finds the image of a reference in the stores of storage.conf, or with `stores` in place of its additional ones
 * (store-conf.h):
 *
 *   registry/name[:tag]          exactly that name; the tag is "latest" where none is given
 *   registry/name[:tag]@digest   the digest decides and the tag is ignored, as in podman
 *   name[:tag], name@digest      a short name: its alias in registries.conf, then localhost/NAME, then the
 *                                unqualified-search-registries, then docker.io/library/NAME
 *   sha256:ID, ID                an image id
 *   the beginning of an id       at least 12 digits, if no image has that name and no other id begins so
 *
 * root: "" or a directory that stands for / (tests).
 *
 * Nothing is written and no lock is taken: podman replaces its files by rename, so each is whole, and if
 * they do not fit together because podman is at work they are read once more.
 *
 * Nothing is remembered for the next start either. A search takes about 40 system calls, and of the list
 * of images only the record that has the name is parsed; writing down what was found would cost 80 us at
 * the first start after boot, which is the one that people wait for.
 *
 * Errors: KT_ERROR_NOT_FOUND with the names that were tried and those that are there, the stores and what to do;
 * KT_ERROR_USAGE for what is no reference; KT_ERROR_UNSUPPORTED for layers that are not plain directories;
 * KT_ERROR_FAILED for a store that is damaged; those of store_conf_load(). */
StoreImage *store_image_find(const char *root, const char *reference, const GPtrArray *stores, GError **error);

/* The same in stores that are known. */
StoreImage *store_image_find_in(const StoreConf *conf, const char *reference, GError **error);

/* Is its configuration in Docker's format, which has more in it than OCI's? Reads its manifest. */
bool store_image_is_docker(const StoreImage *image);

void store_image_free(StoreImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreImage, store_image_free)
