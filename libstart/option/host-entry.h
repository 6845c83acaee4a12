/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* podman's --add-host: NAME[;NAME...]:ADDRESS, IPv4 or IPv6 without brackets; several of them with commas between.
 * Append a line of hosts(5) to `lines` for each. Fails with KT_ERROR_UNSUPPORTED
 * for podman's address "host-gateway", with `lines` perhaps longer. */
bool host_entry_append(GString *lines, const char *value, GError **error);
