/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* The files that an answer was made from, each as it was when it was read: the answer holds as long as all of
 * them are unchanged. A file that did not exist is remembered too. */
typedef struct Seen Seen;

/* What changes when the contents of a path change, by writing or by renaming. All zero: there is no file. */
typedef struct FileIdentity {
        guint64 device;
        guint64 inode;
        guint64 size;
        gint64 mtime; /* ns */
        gint64 ctime; /* ns */
} FileIdentity;

Seen *seen_new(void);
void seen_free(Seen *seen);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Seen, seen_free)

void seen_add(Seen *seen, const char *path, const FileIdentity *identity);

/* Adds everything of another one. */
void seen_add_all(Seen *seen, const Seen *other);

unsigned seen_count(const Seen *seen);
const char *seen_path(const Seen *seen, unsigned i);
const FileIdentity *seen_identity(const Seen *seen, unsigned i);

/* Asks the kernel, once per file and in the order of adding, until one differs. */
bool seen_unchanged(const Seen *seen);

FileIdentity file_identity(const struct stat *st);

/* The same by path; all zero where nothing can be found. */
FileIdentity file_identity_at(const char *path);

/* Reads a regular file whole, NUL-terminated. *ret_text is NULL where the file does not exist.
 * seen: where to remember it; NULL if that does not matter. ret_length: may be NULL. */
bool file_read(const char *path, Seen *seen, char **ret_text, size_t *ret_length, GError **error);
