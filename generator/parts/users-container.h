/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* A container of a user's manager (keyturn-view.service): what it cannot have is refused, with its line. To be called
 * when the arguments are complete. */
void users_container_check(Container *container);

/* What its service has instead of what a system's has. */
void users_container_unit(Container *container);
