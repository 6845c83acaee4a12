/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/load.h"

/* Which service each .container file makes, known before any is converted: files name each other. */
typedef struct UnitNames UnitNames;

UnitNames *unit_names_new(const Sources *sources);
void unit_names_free(UnitNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitNames, unit_names_free)

/* The service of a file. Fails where its name is none, or where a file before it (by file name) already
 * makes the same service. Transfer none. */
const char *unit_names_service(const UnitNames *names, const SourceFile *file, GError **error);

/* What `word`, in After= for example, means to systemd: names of .container files become those of their
 * services, anything else stays. Fails where no such file is there. Transfer full. */
char *unit_names_translate(const UnitNames *names, const char *word, GError **error);

/* The file that makes `service`, or NULL. */
const SourceFile *unit_names_maker(const UnitNames *names, const char *service);
