/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* What a container with Pod= has of its pod: dependencies, namespaces, network, volumes; and what it cannot have
 * because of it. Called when its other keys and its PodmanArgs= have been applied, before its network is known. */
void pod_join(Conversion *container);
