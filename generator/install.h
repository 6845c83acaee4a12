/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* Add the links that [Install] asks for to the service: what `systemctl enable` would make, which does not work on
 * generated units. Of a template only with DefaultInstance=, but for Alias=. */
void install_apply(Container *container);
