/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Paths of the host in the values of a file; text only. */

/* `path` as it is meant in the file `unit_path`: relative to its directory, unless absolute or beginning
 * with a specifier. Transfer full. */
char *source_path_resolve(const char *unit_path, const char *path);

/* Where in the value of Mount= (type=...,source=...) the source stands. False where there is none. */
bool source_path_in_mount(const char *mount, size_t *ret_start, size_t *ret_length);

/* What RequiresMountsFor= can say about `path` (length bytes): the path, or as much as stands before a
 * ${VARIABLE}. NULL where that is nothing absolute. Transfer full. */
char *source_path_for_mounts(const char *path, size_t length);

/* `text` for a place where systemd expands specifiers. Transfer full. */
char *source_path_escape_specifiers(const char *text);
