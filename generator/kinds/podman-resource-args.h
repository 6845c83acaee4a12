/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/kinds/podman-option.h"

/* Those of `podman volume create` 5.4, and of `podman` itself. Of [Network] GlobalArgs= alone: what PodmanArgs= has
 * there, keyturn-network takes. */
extern const PodmanOptions podman_volume_create, podman_network_create;
