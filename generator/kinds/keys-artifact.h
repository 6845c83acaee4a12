/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* Make the service of a .artifact file, which pulls it unless it is there. Takes ownership of service_name. Never
 * fails: look at the findings. Transfer full. */
Container *artifact_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf);
