/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <libcrun/container.h>
#include <stdbool.h>
#include <sys/types.h>

/* Is the payload's mount namespace one of the user namespace that it was started in? In one of its own, which anybody
 * may make, it mounts what it likes over what there is. False, too, where that cannot be told. */
bool payload_place_is_kept(pid_t payload, const libcrun_container_t *config);
