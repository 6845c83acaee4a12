/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Ask systemd to start, stop or restart a unit (`method`: StartUnit, StopUnit, RestartUnit), on its own D-Bus socket: there
 * may be no message bus, and libsystemd is not static. Returns when that is in systemd's queue; false where systemd
 * refuses to. Only root may. */
bool systemd_call(const char *method, const char *unit, GError **error);
