/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Has the networks that `unit` is in described anew by the services of their .network files: these have done so long
 * ago, and somebody may have removed a network since, as podman network prune does. False: there are none, or one has
 * failed. The lock must not be had. */
bool network_describe_again(const char *unit);
