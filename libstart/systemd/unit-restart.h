/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Restarts a service that makes something ahead of this one, and waits for it. Dependencies are left out: this unit's
 * own on it would stop it. */
bool unit_restart(const char *unit, GError **error);
