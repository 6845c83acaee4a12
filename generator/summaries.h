/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Write what is made of all containers together. `origin`, any .container file, is named where it cannot be written.
 */
void summaries_put(Run *run, const char *origin);
