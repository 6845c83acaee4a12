/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* `keyturnctl check`: for somebody who has files that Podman runs today. Prints which files of the generation work as
 * they are, mean something else, are refused, or stay Podman's. files: only these, of char*; empty: all. The report
 * must be sorted, and of them only. taken: takeover_find() has found them. Returns whether nothing is refused. */
bool migration_print(const Generation *generation, GPtrArray *files, const Report *report, const GPtrArray *taken,
                     bool json);
