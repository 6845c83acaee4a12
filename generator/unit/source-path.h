/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* Paths of the host in the values of a file; text only. */

/* What RequiresMountsFor= can say about `path`: the path, or as much as stands before a ${VARIABLE}. NULL where that
 * is nothing absolute. Transfer full. */
char *source_path_for_mounts(const char *path);

/* `text` for a place where systemd expands specifiers or variables: `special` is "%", or "%$". Transfer full. */
char *source_path_escape(const char *text, const char *special);
