/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What storage.conf(5) says about where images are. keyturn looks in the stores that are listed there and in
 * no other directory, so that `podman images` and keyturn always mean the same images. */
typedef struct StoreConf {
        char *root;          /* "" or the directory that stands for / */
        char **stores;       /* image stores in the order of the search, with root */
        unsigned n_writable; /* the first so many are those that podman writes to */
} StoreConf;

/* Reads, as podman does: the file $CONTAINERS_STORAGE_CONF alone if that is set; else the first that exists of
 * /etc/containers/storage.conf and /usr/share/containers/storage.conf, and then the drop-ins that Podman 6 has
 * (conf-files.h). Without any file: the defaults.
 *
 * root: "" or a directory that stands for / (tests). additional: image stores in place of the files' additional ones,
 * as podman takes its option, or NULL. Returns NULL for a file that cannot be read or is not understood
 * (KT_ERROR_FAILED) and for settings under which an image is more than a stack of directories (KT_ERROR_UNSUPPORTED),
 * each with file and line. */
StoreConf *store_conf_load(const char *root, const GPtrArray *additional, GError **error);

void store_conf_free(StoreConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreConf, store_conf_free)

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
