/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A network namespace that is a file, and stays without a process. */

/* Makes one and mounts it on `pin`, a file that is made. userns: a file that is the user namespace it belongs to, or
 * a directory below PATH_USERNS, or NULL. On errors there may be a file, and never a namespace. */
bool namespace_pin(const char *pin, const char *userns, GError **error);

/* -1 where it is not there, or a file on which no namespace is mounted: as of a user whose view has ended. */
int namespace_open(const char *pin);

/* Unmounts it and removes the file. What is not there is no error. */
bool namespace_unpin(const char *pin, GError **error);

/* Writes the lines of "NAME=VALUE" to /proc/sys as it is there, for names that begin with "net.". */
bool namespace_set_sysctls(const char *pin, const char *lines, GError **error);
