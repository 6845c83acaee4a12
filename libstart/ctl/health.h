/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container-units.h"
#include "libstart/health/health-record.h"

/* The health of a container that runs; NULL without an error where it has no health checks. Transfer full. */
HealthRecord *health_read(const ContainerUnit *container, GError **error);

/* "starting", "healthy" or "unhealthy"; NULL where it has none. Transfer full. */
char *health_describe(const ContainerUnit *container);
