/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* The links that [Install] asks for: what `systemctl enable` would make, which does not work on generated
 * units. Of a template only with DefaultInstance=, but for Alias=. Problems go to the container. */
void install_links(Container *container, const UnitNames *names);
