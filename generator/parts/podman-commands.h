/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Warn of the commands in [Service] that have podman do something with a container which keyturn starts: podman finds
 * none of that name. */
void podman_commands_check(Conversion *container);
