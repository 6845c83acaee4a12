/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* What is made ahead of a start fails in a unit of its own, and systemd keeps the reason as that unit's status text
 * ("Status:" of systemctl status) until it is started again. So a start that misses something can say why. */

/* Tell systemd why this service fails. Nobody listening: nothing. */
void unit_failure_tell(const GError *error);

/* Why `unit` has failed, or a service that it requires: "UNIT: what it said". NULL where none has. Transfer full. */
char *unit_failure_find(const char *unit);

/* Put that in the place of *error, which says what is missing. */
void unit_failure_explain(const char *unit, GError **error);
