/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* A container of a user's manager (keyturn-view.service): what it cannot have is refused, with its line. To be called
 * when the arguments are complete. */
void users_container_check(Conversion *container);

/* What a service of it has: its own, or one that is ahead of it. For other managers nothing. */
void users_container_unit(const Conversion *container, Service *service);

/* The same for a pod: problems for what is not there. */
void users_container_check_pod(Conversion *pod);
