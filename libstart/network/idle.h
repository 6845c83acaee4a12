/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* A network stays for a moment when its container has stopped, by keyturn-idle@.service, and keeps its ports and
 * addresses meanwhile. Who needs them does not wait for it.
 *
 * Ends that moment for all networks but that of `unit`, and waits until they are gone. Their own units remove them,
 * so the caller must not hold the lock (network-lock.h). Returns whether one has gone. */
bool idle_networks_end(const char *unit);
