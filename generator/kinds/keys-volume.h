/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* Make the service of a .volume file, which makes the volume. Takes ownership of service_name. Never fails: look at
 * the findings. Transfer full. */
Container *volume_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf);
