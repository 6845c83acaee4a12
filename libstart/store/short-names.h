/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* What registries.conf(5) says about names without a registry. */
typedef struct ShortNames {
        GHashTable *aliases; /* char* name -> char* repository */
        char **registries;   /* unqualified-search-registries */
} ShortNames;

/* Reads registries.conf and its drop-ins (conf-files.h; $CONTAINERS_REGISTRIES_CONF), and the file in
 * which podman remembers what it was told at a terminal. root: as in store_conf_load(). */
ShortNames *short_names_load(const char *root, GError **error);

void short_names_free(ShortNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ShortNames, short_names_free)
