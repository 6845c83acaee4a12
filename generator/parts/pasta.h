/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Network=pasta[:OPTION,...] of a user's file, with its ports: libstart/network/pasta.h has it. */

/* Is that the container's network? */
bool pasta_is_of(const Conversion *container);

/* Has it bridges, which lie in a namespace of the user's that has a pasta of its own? */
bool pasta_is_beside(const Conversion *container);

/* For the value of Network=. */
bool pasta_check_options(const char *network, GError **error);

/* Ports that pasta does not know, or the kernel does not let a user have. */
void pasta_check_ports(Conversion *container);
