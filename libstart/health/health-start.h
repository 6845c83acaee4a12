/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-plan.h"

/* What a start does for a container that has health checks, and no other one does: it writes down what is to be run,
 * and asks systemd to begin. The checks are `libstart health` (check-command.c). */

/* Into the container's directory, before the payload is started. *ret as of health_plan_make(). */
bool health_prepare(const ContainerRequest *request, const ImageHealth *image, const char *directory,
                    HealthPlan **ret, GError **error);

/* When it is. `unit`: the service. The container runs: what goes wrong now is logged. */
void health_start(const HealthPlan *plan, const char *unit);
