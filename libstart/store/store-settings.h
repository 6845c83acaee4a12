/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The settings of storage.conf that matter to a reader of images. Pure. */
typedef struct StoreSettings {
        char *graph_root;
        char *image_store; /* "" for none */
        char **additional_stores;
} StoreSettings;

#define STORE_SETTINGS_GRAPH_ROOT "/var/lib/containers/storage"

StoreSettings *store_settings_new(void);

/* Takes over what a file sets; what it does not mention stays. name: of the file, for errors
 * (KT_ERROR_FAILED, and KT_ERROR_UNSUPPORTED for settings with which layers are more than directories). */
bool store_settings_apply(StoreSettings *settings, const char *text, size_t length, const char *name, GError **error);

/* The image stores in the order of the search. The first *ret_n_writable are those that podman writes to. */
char **store_settings_stores(const StoreSettings *settings, unsigned *ret_n_writable);

void store_settings_free(StoreSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreSettings, store_settings_free)
