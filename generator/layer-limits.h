/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"
#include "generator/keyturn-conf.h"

bool handle_layer_limit(Container *container, const Key *key, const Value *value, GError **error);

/* WritableLayerSize= and WritableLayerInodes=. Where neither the file nor its PodmanArgs= set a limit, take that of
 * keyturn.conf. */
void layer_limits_finish(Container *container, KeyturnConf *conf);
