/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Podman's lock of its networks, which is ours, too: neither looks for a free subnet or address, nor calls netavark,
 * while another does. A command has it from before it looks until its process ends, however that ends, or gives it
 * back by network_unlock(); what it executes does not inherit it. Who has it already must not ask for it again.
 * Waits, at most 45 s. Failed, nothing is locked, and nothing may be changed: somebody has had it all that time, whom
 * the error names, or the file cannot be used. */
bool network_lock(GError **error);
void network_unlock(void);
