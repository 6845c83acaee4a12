/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Files of users' managers, which only Podman's user generator makes services of. As files of the system's they would
 * be the machine's root's, and mean something else. */

/* Is the file, by its absolute path, in a directory that Podman's user generator reads? */
bool user_file_is(const char *path);
