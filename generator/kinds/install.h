/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Add the links that [Install] asks for to the service. `systemctl enable`, which makes them for other units,
 * refuses generated ones. A template is only wanted by others with DefaultInstance=; Alias= works without. */
void install_apply(Conversion *container);
