/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* An address that is known when the container starts: the machine's own, as podman has it where there is no bridge.
 */
#define HOST_GATEWAY "host-gateway"

/* podman's --add-host: NAME[;NAME...]:ADDRESS, IPv4 or IPv6 without brackets; several of them with commas between.
 * Append a line of hosts(5) to `lines` for each, in which HOST_GATEWAY may stand in the address's place. On errors
 * `lines` is perhaps longer. */
bool host_entry_append(GString *lines, const char *value, GError **error);
