/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-record.h"

/* HealthLogDestination=DIRECTORY: DIRECTORY/NAME-healthcheck.log, which a new one replaces after each check. NAME is
 * the container's, where Podman has an id that is another one at each start. */

/* Is there that directory? Links are not followed on the way: somebody else could change where they lead, and what is
 * written there is the payload's. */
bool health_log_file_check(const HealthPlan *plan, GError **error);

bool health_log_file_write(const HealthPlan *plan, const HealthRecord *record, GError **error);
