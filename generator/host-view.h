/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* Containers that see more of the machine than others: --pid=host, --ipc=host, --uts=host; or less of keyturn: --no-hosts.
 * What else they say must go with that, and whoever reads the unit's messages is told what they can do. */
void host_view_finish(Container *container);
