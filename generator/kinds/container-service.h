/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/keyturn-conf.h"
#include "generator/parts/hooks.h"
#include "generator/parts/machine-conf.h"
#include "generator/unit/conversion.h"

/* Make the service of a .container file. ExecStart= is not written yet: container-output.h first asks
 * filters-needed.h and untrusted-paths.h, which look at all containers together. Takes ownership of service_name.
 * Never fails: look at the findings. Transfer full. */
Conversion *container_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf,
                              MachineConf *machine, Hooks *hooks);
