/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"
#include "generator/keyturn-conf.h"

/* Make a service of a file, but for what all containers together decide (filters-needed.h, untrusted-paths.h) and for
 * ExecStart=. Takes ownership of service_name. Never fails: look at the findings. Transfer full. */
Container *convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf);
