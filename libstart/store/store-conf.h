/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* What storage.conf(5) says about where images are. keyturn looks in the stores that are listed there and in
 * no other directory, so that `podman images` and keyturn always mean the same images. */
typedef struct StoreConf {
        char *root;          /* "" or the directory that stands for / */
        char **stores;       /* image stores in the order of the search, with root */
        unsigned n_writable; /* the first so many are those that podman writes to */
} StoreConf;

/* Reads, as podman does: the file $CONTAINERS_STORAGE_CONF alone if that is set; else the first that
 * exists of /etc/containers/storage.conf and /usr/share/containers/storage.conf, and then the drop-ins
 * that Podman 6 has (conf-files.h). Without any file: the defaults.
 *
 * root: "" or a directory that stands for / (tests).
 * Returns NULL for a file that cannot be read or is not understood (KT_ERROR_FAILED) and for settings under
 * which an image is more than a stack of directories (KT_ERROR_UNSUPPORTED), each with file and line. */
StoreConf *store_conf_load(const char *root, GError **error);

void store_conf_free(StoreConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreConf, store_conf_free)
