/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What changes when the contents of a path change, by writing or by renaming. All zero: there is no file. */
typedef struct FileIdentity {
        guint64 device;
        guint64 inode;
        guint64 size;
        gint64 mtime; /* ns */
        gint64 ctime; /* ns */
} FileIdentity;

/* Reads a regular file whole with one open, fstat, read and close. *ret_text is NUL-terminated, and NULL
 * where the file does not exist, which is no error here. ret_length, ret_identity: NULL if they do not
 * matter. */
bool file_read(const char *path, char **ret_text, size_t *ret_length, FileIdentity *ret_identity, GError **error);

/* A regular file's contents, mapped, so that nothing is copied. Not NUL-terminated. Only for files that are
 * replaced and never written to: one that is cut off meanwhile kills the process. text is NULL where the
 * file does not exist or is empty. */
typedef struct FileMap {
        const char *text;
        size_t length;
        FileIdentity identity;
} FileMap;

bool file_map(const char *path, FileMap *ret, GError **error);
void file_unmap(FileMap *map);

/* Is the file still the one that was read? */
bool file_unchanged(const char *path, const FileIdentity *identity);
