/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Containers and pods that join each other's networks, so that each waits for the other: systemd could start none.
 *
 * Fails where `service`, whose network is to be joined, waits for this one. given: what the file calls it. */
bool network_ring_check(const Conversion *container, const char *given, const char *service, GError **error);
