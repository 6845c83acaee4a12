/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Exit status on KT_ERROR_UNSUPPORTED. */
#define CHECK_REFUSED 2

/* `libstart health UNIT`, which keyturn-health@UNIT.service executes: run the check of UNIT.service, a container,
 * once. Where the container does not run, or has none, there is nothing to do, which is no error; nor is a check that
 * fails. On errors systemd runs it again, but not on KT_ERROR_UNSUPPORTED: another try would not change anything. */
bool check_command(const char *unit, GError **error);
