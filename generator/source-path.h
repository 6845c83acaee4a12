/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

/* Paths of the host in the values of a file; text only. */

/* EnvironmentFile=, Mount= and Volume=: a path may be relative to the file. */
bool handle_environment_file(Container *container, const Key *key, const Value *value, GError **error);
bool handle_mount(Container *container, const Key *key, const Value *value, GError **error);
bool handle_volume(Container *container, const Key *key, const Value *value, GError **error);

/* `path`, resolved against the directory of the file `unit_path` unless it is absolute or begins with a specifier.
 * Transfer full. */
char *source_path_resolve(const char *unit_path, const char *path);

/* Fill in container->sources: the root directory, volumes, then mounts. Called when container->args has them all. */
void source_paths_find(Container *container);

/* What RequiresMountsFor= can say about `path`: the path, or as much as stands before a ${VARIABLE}. NULL where that
 * is nothing absolute. Transfer full. */
char *source_path_for_mounts(const char *path);

/* `text` for a place where systemd expands specifiers. Transfer full. */
char *source_path_escape_specifiers(const char *text);
