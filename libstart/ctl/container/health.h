/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/container-units.h"

/* "starting", "healthy" or "unhealthy"; NULL where it has none, or with an error where that cannot be told. Transfer
 * full. */
char *health_describe(const ContainerUnit *container, GError **error);
