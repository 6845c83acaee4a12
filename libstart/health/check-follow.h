/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/check-timer.h"

/* What follows from a check that has ended: READY=1, HealthOnFailure=, and which timer has the next one run. */

/* Does anything? `turn`: of the check that has ended. */
bool check_follow_is_needed(const Check *check, CheckTurn turn, guint consequences);

/* All is tried; the first problem is said. False without an error where the container has gone meanwhile. */
bool check_follow(Check *check, CheckTurn turn, guint consequences, GError **error);
