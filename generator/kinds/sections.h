/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* What is wrong with the file whatever its kind: lines that are none, and unknown sections. To be called first. */
void sections_check(Container *container);

/* What a container adds to systemd's own sections [Unit] and [Service], and what it refuses there. Called when
 * container->args is complete. */
void sections_unit(Container *container);
void sections_unit_of_pod(Container *pod);
void sections_service(Container *container);
