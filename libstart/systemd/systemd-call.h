/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* On systemd's own D-Bus socket: there may be no message bus, and libsystemd is not static. Only root may. */

/* Asks it to start, stop or restart a unit (`method`: StartUnit, StopUnit, RestartUnit). `mode`: "fail", rather than come in
 * the place of what somebody else has asked for; or "replace". Returns when that is in systemd's queue; false where systemd
 * refuses to. */
bool systemd_call(const char *method, const char *unit, const char *mode, GError **error);

/* "active", "deactivating" and so on: ActiveState. Transfer full. */
char *systemd_unit_state(const char *unit, GError **error);
