/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Regular files that are read whole. */

/* Reads the regular file that `fd` is open on. It was opened with O_NONBLOCK: a FIFO would wait for a writer.
 *
 * name: for errors: "'/etc/x'". max: more bytes than that are an error. *ret_text is terminated with a NUL that its
 * length, ret_st->st_size, does not count; transfer full. ret_st: NULL if nobody asks. */
bool file_read_fd(int fd, const char *name, size_t max, char **ret_text, struct stat *ret_st, GError **error);

/* What changes when the contents of a path change, by writing or by renaming. All zero: there is no file. */
typedef struct FileIdentity {
        guint64 device;
        guint64 inode;
        guint64 size;
        gint64 mtime; /* ns */
        gint64 ctime; /* ns */
} FileIdentity;

/* Without opening it. False, with errno, where it cannot be told; that there is none can be told. */
bool file_identify(const char *path, FileIdentity *ret);

/* Is the file still the one that was read? */
bool file_unchanged(const char *path, const FileIdentity *identity);

/* The same from a path, up to 64 MiB. *ret_text is NULL where the file does not exist, which is no error here.
 * ret_length: NULL if nobody asks. */
bool file_read(const char *path, char **ret_text, size_t *ret_length, GError **error);

/* The same of a file that keyturn-generator has written beside the units, and that is never empty. Waits up to two
 * seconds for it: at a reload systemd removes all that generators have made before it calls them again. Then it is
 * KT_ERROR_NOT_FOUND. */
bool generated_file_read(const char *path, char **ret_text, size_t *ret_length, GError **error);

/* The same as file_read(), with what tells whether the file is another by now. */
bool file_load(const char *path, char **ret_text, size_t *ret_length, FileIdentity *ret_identity, GError **error);
