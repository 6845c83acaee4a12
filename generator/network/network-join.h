/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Network=container: or NAME.container of a container that would gain rights by it (NETWORK_MODE_GAINS_RIGHTS).
 * libstart looks at each start; this is what is known before. */

/* The file that has to be looked at, or NULL. */
const SourceFile *network_join_find(const Conversion *container);

/* Refuse to join the network of the container that is made of that file. */
void network_join_check(Conversion *container, const Conversion *other);
