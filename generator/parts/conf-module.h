/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Files of containers.conf(5)'s format that count for one container, pod, volume or network. */

/* ContainersConfModule= */
KeyHandler handle_conf_module;

/* What they say and the container, pod, volume or network does not say itself, of several the last one that says it.
 * Called when its keys, its PodmanArgs= and its pod have been applied. Needs container->conf. */
void conf_modules_finish(Conversion *container);
