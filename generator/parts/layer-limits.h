/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_layer_limit;

/* WritableLayerSize= and WritableLayerInodes=. Where neither the file nor its PodmanArgs= set a limit, take that of
 * keyturn.conf. */
void layer_limits_finish(Conversion *container);
