/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* `keyturnctl check`: for somebody who has files that Podman runs today. Prints, for all files of the generation, what works
 * as it is, what means something else, what is refused and what stays Podman's. The report must be sorted. Returns whether
 * nothing is refused. */
bool migration_print(const Generation *generation, const Report *report, bool json);
