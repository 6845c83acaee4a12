/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* A directory that stands for / in a test. */

/* Ends with an element without a path. A path that ends in "/" is a directory, text NULL. */
typedef struct RootFile {
        const char *path;
        const char *text;
} RootFile;

char *root_make(const RootFile *files);

/* Writes one file into it, replacing its content, so that its time differs from before. */
void root_write(const char *root, const char *path, const char *text);

/* Waits until what was written has another time than what will be written. */
void root_settle(void);

/* Removes it and frees the string. */
void root_remove(char *root);
