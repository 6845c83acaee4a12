/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* User namespaces that were made ahead of the start of their container, in PATH_USERNS/UNIT: files that a namespace
 * is mounted on. Their name says which maps it has, and in whose name it was made (userns-maker.h), so that one of
 * another time is not found. unit: as in IdAssignment. */

/* Pins the namespace, and no other one for this unit. */
bool userns_pin_make(const char *unit, int fd, const GArray *uids, const GArray *gids, uid_t maker, GError **error);

/* -1: there is no such one. 10 us. *ret_path is its file, transfer full. */
int userns_pin_open(const char *unit, const GArray *uids, const GArray *gids, uid_t maker, char **ret_path);

/* Removes all of the unit's. */
bool userns_pin_remove(const char *unit, GError **error);
