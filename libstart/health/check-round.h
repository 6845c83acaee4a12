/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart health-every SPAN`: one check of each container that is checked in this interval together with others.
 * They run side by side, and none waits for another; a check that takes longer than the interval is left alone in its
 * turn, and the others go on meanwhile. Returns when none is left; what goes wrong with one container is logged, and
 * does not concern the others. */
bool check_round_command(const char *span, GError **error);
