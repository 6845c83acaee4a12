/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/tree.h"

/* keyturn.conf(5): one file and its drop-ins, found as systemd finds its own. Read when first asked, so that
 * it costs nothing where no container asks. */
typedef struct KeyturnConf KeyturnConf;

KeyturnConf *keyturn_conf_new(const Tree *tree);
void keyturn_conf_free(KeyturnConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyturnConf, keyturn_conf_free)

typedef enum Setting {
        SETTING_NETWORK,      /* "host" or "none" */
        SETTING_LAYER_SIZE,   /* a size or a percentage, as in libstart/option/storage-option.h */
        SETTING_LAYER_INODES, /* a number */
        N_SETTINGS,
} Setting;

/* What holds for a container whose file does not say, and where that was decided ("DefaultNetwork= in FILE:LINE");
 * *ret_value is NULL where nobody has, and libstart does. Strings belong to the KeyturnConf. Fails where keyturn.conf is broken,
 * or this setting in it: a typo must not give a container more than was meant. */
bool keyturn_conf_default(KeyturnConf *conf, Setting setting, const char **ret_value, const char **ret_origin,
                          GError **error);
