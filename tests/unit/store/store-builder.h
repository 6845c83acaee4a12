/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Builds miniature image stores in a temporary directory, with the files that podman leaves. */
typedef struct StoreBuilder {
        char *root;        /* the directory that stands for / */
        GPtrArray *stores; /* of BuilderStore* */
} StoreBuilder;

/* What was made of an image, for tests to expect or to damage. */
typedef struct BuiltImage {
        char *id;
        char *digest;       /* of the manifest */
        char *config;       /* without the elements of its history */
        char **layers;      /* ids, lowermost first */
        char **directories; /* STORE/overlay/ID, lowermost first, with root */
} BuiltImage;

/* A new root with etc/containers/storage.conf: the first store is graphroot, the others
 * additionalimagestores. stores: paths below the root, ended by NULL. */
StoreBuilder *store_builder_new(const char *const *stores);

/* Removes everything. */
void store_builder_free(StoreBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreBuilder, store_builder_free)

/* Puts an image into store number i (from 0). names: as JSON, '"a:1", "b:1"'. seed: images with the same
 * seed have the same layers, as far as both have them. layer_store: store number where the layers below
 * the uppermost go. */
BuiltImage *store_builder_add(StoreBuilder *builder, unsigned i, const char *names, const char *seed,
                              unsigned n_layers, unsigned layer_store);

/* Puts a manifest list into a store, as an image of its own that has no layers. */
BuiltImage *store_builder_add_list(StoreBuilder *builder, unsigned i, const char *names, const char *manifests);

/* One more image record, as JSON, in a store's images.json. */
void store_builder_add_record(StoreBuilder *builder, unsigned i, const char *record);

/* path: below the root; directories are made. */
void store_builder_write(StoreBuilder *builder, const char *path, const char *text);

void built_image_free(BuiltImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BuiltImage, built_image_free)
