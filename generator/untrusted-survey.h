/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Note what all containers can write to before the first service is made, where a file needs that
 * (untrusted-paths.h). It is rarely so, and then every file is looked at twice. */
void untrusted_survey(Run *run, const GPtrArray *files);
