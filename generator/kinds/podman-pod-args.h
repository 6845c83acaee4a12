/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/kinds/podman-option.h"

/* Those of `podman pod create` 5.4, and of `podman` itself. */
extern const PodmanOptions podman_pod_create;
