/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* On systemd's own D-Bus socket: there may be no message bus, and libsystemd is not static. Only root may. */

/* Asks it to start, stop or restart a unit (`method`: StartUnit, StopUnit, RestartUnit, TryRestartUnit, which
 * starts none that is stopped). `mode`: "fail", rather than come in the place of what somebody else has asked for;
 * "replace"; or "ignore-requirements", which leaves alone what it depends on. Returns when that is in systemd's
 * queue; false where systemd refuses to. KT_ERROR_UNTRIED, of the others here as
 * well: it could not be reached for 5 s, or has not answered for 30. */
bool systemd_call(const char *method, const char *unit, const char *mode, GError **error);

/* Interfaces of units' properties. */
#define SYSTEMD_UNIT "org.freedesktop.systemd1.Unit"
#define SYSTEMD_SERVICE "org.freedesktop.systemd1.Service"

/* Properties of three types: a text, a number (of 32 bits; 0 with an error), a list of texts. Transfer full. */
char *systemd_unit_text(const char *unit, const char *interface, const char *name, GError **error);
guint32 systemd_unit_number(const char *unit, const char *interface, const char *name, GError **error);
GPtrArray *systemd_unit_list(const char *unit, const char *interface, const char *name, GError **error);

/* "active", "deactivating" and so on: ActiveState. Transfer full. */
char *systemd_unit_state(const char *unit, GError **error);
