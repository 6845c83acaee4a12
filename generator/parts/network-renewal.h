/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* Whether a container's network is made anew each time: that of a pod, whose containers do not look whether it has changed,
 * and that of a payload that may change it, as what it leaves must not meet its next start. */
bool network_is_renewed(const Container *container);

/* The mask of what a list of AddCapability= or DropCapability= says; of all where systemd has to expand something in it. */
guint64 network_capabilities(const GPtrArray *values);
