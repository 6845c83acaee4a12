/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/tree.h"
#include "generator/files/unit-file.h"

/* All drop-in directories that were met while scanning; each is read when the first file needs it, and once. */
typedef struct Dropins Dropins;

Dropins *dropins_new(const Tree *tree);
void dropins_free(Dropins *dropins);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Dropins, dropins_free)

/* Note a directory, called in the order of the search path. `name` is its own, "foo.container.d". readers: of the
 * directory that it is in (tree.h). */
void dropins_add_directory(Dropins *dropins, const char *name, const char *path, mode_t readers);

/* Parse into `file` every drop-in that belongs to `file_name`: of files of the same name the one in the most
 * specific directory counts, then the one earlier in the search path; all in the order of their names. What is
 * wrong with their lines is in file->problems; fails where one cannot be read. */
bool dropins_apply(Dropins *dropins, const char *file_name, UnitFile *file, GError **error);

/* The same for one directory name, whatever file it belongs to. */
bool dropins_apply_directory(Dropins *dropins, const char *directory_name, UnitFile *file, GError **error);
