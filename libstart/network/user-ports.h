/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `keyturn-network ports UNIT`, which keyturn-ports@UNIT.service of a user's manager is: her bridges lie in a
 * namespace where clients do not come. It listens at the machine's ports, and carries what comes there to the
 * container, as rootless Podman's rootlessport does. It ends with the network, or where something fails. */
bool ports_command(const char *unit, GError **error);
