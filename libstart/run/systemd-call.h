/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Ask systemd to start a unit, on its own D-Bus socket: there may be no message bus, and libsystemd is not static. Returns
 * when the start is in systemd's queue; false where systemd refuses to. Only root may. */
bool systemd_call_start_unit(const char *unit, GError **error);
