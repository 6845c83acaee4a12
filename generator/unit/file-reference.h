/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* A file that another one names, as Volume=data.volume:/x does. It may be a template, data@.volume: then
 * "data@one.volume" means its instance "one". "data@.volume" means the instance that is called as the container's
 * own; the container has to be of a template, too. */
typedef struct FileReference {
        const SourceFile *source;
        char *service;  /* that makes it */
        char *instance; /* "one", or "%i"; NULL: the file is no template */
} FileReference;

void file_reference_clear(FileReference *reference);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FileReference, file_reference_clear)

/* Fails where there is no such file, or no instance is known. */
bool file_reference_find(Conversion *container, const char *file, FileReference *ret, GError **error);

/* `text` of that file, as it is to be written into the container's unit: %i is the instance's. Transfer full. */
char *file_reference_expand(const FileReference *reference, const char *text);
