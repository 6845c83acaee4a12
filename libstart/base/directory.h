/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Makes the directory `path`, an absolute one, with the mode that it says whatever the umask is, and what is missing above
 * it with 0755: many have a part of /run/keyturn and of /var/lib/keyturn, whoever makes them first, and the root of a
 * user namespace, who is not root, has to pass. One that is there is left as it is. */
bool directory_make(const char *path, mode_t mode, GError **error);
