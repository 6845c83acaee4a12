/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Whether a container's network is made anew each time. A pod's is, as its containers do not look whether it has
 * changed. So is that of a payload with the right to change it: the next start must not meet its changes. */
bool network_is_renewed(const Conversion *container);

/* The mask of what a list of AddCapability= or DropCapability= says; of all where systemd has to expand something in
 * it. */
guint64 network_capabilities(const GPtrArray *values);
