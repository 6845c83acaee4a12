/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Write the service of a .container file, and what is beside it: variables, health timers, what makes its network,
 * its user namespace and its image. Or say why not. */
void container_put(Run *run, const SourceFile *source);
