/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Waits for Podman's lock of its networks, which is ours, too: neither looks for a free subnet or address, nor calls
 * netavark, while another does. It ends with the process, or when the descriptor is closed. -1 with an error. */
int network_lock(GError **error);
