/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/tree.h"

/* keyturn.conf(5): one file and its drop-ins, found as systemd finds its own. It is read when it is first asked for,
 * as most systems never need it. */
typedef struct KeyturnConf KeyturnConf;

KeyturnConf *keyturn_conf_new(const Tree *tree);
void keyturn_conf_free(KeyturnConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyturnConf, keyturn_conf_free)

/* For the services of a user's manager. */
void keyturn_conf_set_users(KeyturnConf *conf);
bool keyturn_conf_is_users(const KeyturnConf *conf);

/* Where it is read from. */
const Tree *keyturn_conf_tree(const KeyturnConf *conf);

typedef enum Setting {
        SETTING_NETWORK,      /* "bridge", "host" or "none" */
        SETTING_LAYER_SIZE,   /* a size or a percentage, as in libstart/request/storage-option.h */
        SETTING_LAYER_INODES, /* a number */
        SETTING_PULL,         /* "missing", "newer", "always" or "never" */
        N_SETTINGS,
} Setting;

/* The value for a container whose file has none, and where it is set ("DefaultNetwork= in FILE:LINE"). *ret_value is
 * NULL where it is set nowhere: libstart has its own default. Strings belong to the KeyturnConf. Fails where
 * keyturn.conf or the setting is broken: a typo must not give a container more than was meant. */
bool keyturn_conf_default(KeyturnConf *conf, Setting setting, const char **ret_value, const char **ret_origin,
                          GError **error);

/* What is wrong with the files as a whole, as far as they have been read: of char* ("FILE:LINE: ..."), in the order
 * of the lines. */
const GPtrArray *keyturn_conf_problems(const KeyturnConf *conf);
