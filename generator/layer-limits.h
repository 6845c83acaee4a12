/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"
#include "generator/keyturn-conf.h"

bool handle_layer_limit(Container *container, const Key *key, const Value *value, GError **error);

/* The limits of the writable layer that neither the file's [Keyturn] nor its PodmanArgs= has said, from keyturn.conf. */
void layer_limits_finish(Container *container, KeyturnConf *conf);
