/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

#define USERS_SERVICE_NOT_EARLY                                                                                        \
        "users' managers start long after that: remove it, or write the file for the system's manager, with User= in " \
        "[Service]"

/* What a user's manager cannot do of what the file asks of systemd, beside limits (kernel-control.h): problems.
 * systemd itself starts such a service without it, and says nothing, or fails with a step of its own. */
void users_service_check(Container *container);
