/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/systemd/systemd-notify.h"

/* Restarts a service that makes something ahead of this one, and waits for it. Dependencies are left out: this unit's
 * own on it would stop it. */
bool unit_restart(const char *unit, GError **error);

/* The same for a start that waits for it: systemd is told so, with what it `does`, and to wait for `sec` seconds. */
bool unit_restart_for_start(const char *unit, Notify *systemd, const char *does, guint64 sec, GError **error);

/* unit_restart() with all that depends on it. Where this unit does, it ends while it waits, and is started again. */
bool unit_restart_with_others(const char *unit, GError **error);

/* Stops one, and waits for it. */
bool unit_stop(const char *unit, GError **error);
