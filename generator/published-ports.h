/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* What PublishPort= means without a bridge. The network is known, in container->args; container->has_network says
 * whether the file itself chose it. */
void published_ports_check(Container *container);
