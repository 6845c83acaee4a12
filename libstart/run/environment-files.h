/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/request.h"

/* The files that a container's environment comes from, read for environment_build(). */
typedef struct EnvironmentFiles {
        GPtrArray *owned; /* of char*: all texts, and what environment_build() adds */
        char **contents;  /* of request->env_files, NULL-terminated; the strings are in `owned` */
        char *list;       /* of request->env_list, or NULL; in `owned` too */
        gsize list_length;
} EnvironmentFiles;

bool environment_files_read(const ContainerRequest *request, EnvironmentFiles *ret, GError **error);
void environment_files_clear(EnvironmentFiles *files);
