/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/root.h"

/* keyturn.conf(5): one file and its drop-ins, found as systemd finds its own. Read when first asked, so that
 * it costs nothing where no container asks. */
typedef struct Config Config;

Config *config_new(const Root *root);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* The network of a container whose file does not say: "host" or "none", and where that was decided ("built
 * in" or "FILE:LINE"). Strings belong to the Config. Fails where keyturn.conf is broken: a typo in it must
 * not give a container more than was meant. */
bool config_default_network(Config *config, const char **ret_network, const char **ret_origin,
                            GError **error);
