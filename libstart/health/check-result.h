/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-record.h"
#include "libstart/health/probe.h"

/* What becomes of a check's result. */

/* For the record. Transfer full. */
HealthResult *check_result_make(const ProbeResult *result, GDateTime *begin);

/* "exit status 127: executable file `curl` not found", printable, on one line. Transfer full. */
char *check_result_describe(const HealthResult *result);

/* What the journal is told of it: each change, each failure, and with events_logger everything. `unit`: of the
 * container, without ".service". */
void check_result_log(const char *unit, const HealthPlan *plan, const HealthState *state, const HealthResult *result,
                      bool is_startup, guint consequences);
