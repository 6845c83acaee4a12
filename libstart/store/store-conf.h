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

/* The same for a user without a session, by a process that has become her: what her storage.conf says, else
 * rootless_storage_path of the machine's, else the usual place, each below `home`. Short names are the machine's.
 * variables: as of StoreSettings. */
StoreConf *store_conf_load_users(const char *home, char **variables, GError **error);

/* Where Podman has what is gone with the boot; of a user, whose view has been entered, hers. Transfer full. */
char *store_conf_run_root(const StoreConf *conf);

void store_conf_free(StoreConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreConf, store_conf_free)

/* The settings of storage.conf that matter to a reader of images. Pure. */
typedef struct StoreSettings {
        char *graph_root;
        char *image_store; /* "" for none */
        char **additional_stores;
        /* Of a user, by which $NAME is expanded in graphroot and rootless_storage_path, as g_get_environ() has them.
         * NULL: root's settings, which have none. */
        char **variables;
        char *rootless_path; /* rootless_storage_path; NULL for none, and for root */
} StoreSettings;

#define STORE_SETTINGS_GRAPH_ROOT "/var/lib/containers/storage"

StoreSettings *store_settings_new(void);

/* Takes over what a file sets; what it does not mention stays. name: of the file, for errors
 * (KT_ERROR_FAILED, and KT_ERROR_UNSUPPORTED for settings with which layers are more than directories). */
bool store_settings_apply(StoreSettings *settings, const char *text, size_t length, const char *name, GError **error);

/* What counts for users of the machine's files, whose place a user's own take: rootless_storage_path. root: as above.
 */
bool store_settings_read_machines(StoreSettings *settings, const char *root, GError **error);

/* A user's: with no graphroot of its own the store is where the machine's file says, else below `share`
 * ($XDG_DATA_HOME). */
void store_settings_settle_users(StoreSettings *settings, const char *share);

/* The image stores in the order of the search. The first *ret_n_writable are those that podman writes to. */
char **store_settings_stores(const StoreSettings *settings, unsigned *ret_n_writable);

void store_settings_free(StoreSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreSettings, store_settings_free)
