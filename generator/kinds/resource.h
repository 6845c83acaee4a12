/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"
#include "generator/unit/keys.h"

/* What containers use, and services of their own make ahead of them: volumes, networks and images. */

/* With what its keys say, and what is wrong with them. Takes ownership of service_name. Transfer full. */
Container *resource_new(const SourceFile *source, char *service_name, const UnitNames *names, const KeyTable *keys);

/* What a oneshot makes, a volume or a network: a container that starts early needs it as early. mounts: one word of
 * RequiresMountsFor=. */
void resource_service(Container *resource, const char *mounts);
