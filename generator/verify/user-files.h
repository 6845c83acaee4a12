/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* Files of users' managers, which only Podman's user generator makes services of. As files of the system's they would
 * be the machine's root's, and mean something else. */

/* Is the file, by its absolute path, in a directory that Podman's user generator reads? */
bool user_file_is(const char *path);

/* What was found about such files as the system's goes; of each that `is_chosen` one remark says whose it is. */
void user_files_settle(const Generation *generation, bool (*is_chosen)(const SourceFile *source, const void *data),
                       const void *data, Report *report);
