/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart health UNIT`, which keyturn-health@UNIT.service executes: run the check of UNIT.service, a container,
 * once. Where the container does not run, or has none, there is nothing to do, which is no error; nor is a check that
 * fails. */
bool check_command(const char *unit, GError **error);
