/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/keyturn-conf.h"
#include "generator/unit/container.h"

/* Make a service of a .pod file: a oneshot that pins the pod's namespaces. Takes ownership of service_name. Never
 * fails: look at the findings. Its LaunchArgs hold what its containers have in common. Transfer full. */
Container *pod_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf);
