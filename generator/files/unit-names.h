/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/load.h"

/* The service that each file makes. Known before any is converted, since files name each other. `sources` must
 * outlive it. */
typedef struct UnitNames UnitNames;

UnitNames *unit_names_new(const Sources *sources);
void unit_names_free(UnitNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitNames, unit_names_free)

/* The service of a file. Fails where the name is not valid, or where a file before it (by file name) makes the same
 * service; the error does not name the file. Transfer none. */
const char *unit_names_service(const UnitNames *names, const SourceFile *file, GError **error);

/* The last line with ServiceName=, or NULL. */
const UnitLine *unit_names_line(const SourceFile *file);

/* Translate a word of After= and the like: the name of such a file becomes that of its service, anything else
 * stays. Fails where there is no such file. Transfer full. */
char *unit_names_translate(const UnitNames *names, const char *word, GError **error);

/* The same of the name of a file that must be there and readable: the file. Transfer none. */
const SourceFile *unit_names_refer(const UnitNames *names, const char *file, char **ret_service, GError **error);

/* All files, of SourceFile, by name. Transfer none. */
const GPtrArray *unit_names_files(const UnitNames *names);

/* The file that makes `service`, or NULL. */
const SourceFile *unit_names_maker(const UnitNames *names, const char *service);

/* The service of the container with that name, or NULL. Of several the first by file name. */
const char *unit_names_container(const UnitNames *names, const char *container_name);

/* The other file whose container has the name that this one's has, and comes before it; or NULL. */
const SourceFile *unit_names_twin(const UnitNames *names, const SourceFile *file);

/* `text` of the file, with %N for its service's name, and %i for that of an instance that is known. Transfer full. */
char *unit_names_expand(const char *text, const char *service);
