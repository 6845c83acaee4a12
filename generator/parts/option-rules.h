/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Refuse what libstart would refuse of the options, alone and together, and name the line. Values that systemd has
 * still to complete are left to the start. What is allowed and leaves the machine unprotected is warned of. To be
 * called when all options of `container` (a container or a pod) are set. */
void option_rules_check(Conversion *container);

/* The line that says this option, without its hyphens; or NULL. And that of PodmanArgs=, if it does. */
const UnitLine *option_rules_find_line(const Conversion *container, const char *option);
const UnitLine *option_rules_find_podman_line(const Conversion *container, const char *option);
