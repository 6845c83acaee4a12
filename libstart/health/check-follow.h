/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/check-timer.h"

/* What follows from a check that has ended: READY=1, HealthOnFailure=, and which timer has the next one run. */

/* Does anything, after a check that others run with it? */
bool check_follow_is_needed(const Check *check, guint consequences);

/* All is tried; the first problem is said. False without an error where the container has gone meanwhile. */
bool check_follow(Check *check, CheckTurn turn, guint consequences, GError **error);
