/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* A network stays for a moment when its container has stopped, by keyturn-idle@.service, and keeps its ports and
 * addresses meanwhile. Who needs them does not wait for it.
 *
 * Ends that moment for all networks but that of `unit`, and waits for those that go, which their own units remove:
 * the caller has no lock (network-lock.h). Returns whether one has gone. */
bool idle_networks_end(const char *unit);
