/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <dirent.h>
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Makes the directory `path`, which is absolute, with this mode under any umask. Missing directories above it get
 * 0755: several programs have a part of /run/keyturn and of /var/lib/keyturn, any of them may be the first, and the
 * root of a user namespace has to pass. A directory that is there is left as it is. */
bool directory_make(const char *path, mode_t mode, GError **error);

/* Of a directory in /var/lib/keyturn: can nobody but root write to it, or to the one above? Who can decides what root
 * does next: which ids a container has, where a file is written. A restore from a backup may have given it to
 * anybody. One that is not there is nobody's. */
bool directory_check_owner(const char *path, GError **error);

/* Both. */
bool directory_make_kept(const char *path, mode_t mode, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DIR, closedir)

/* The entries of the directory that `fd` (O_PATH or more) is open on, from the first one on; NULL with errno. */
DIR *directory_open(int fd);

/* The next entry, but "." and ".."; borrowed until the next call. NULL with errno 0 at the end, or with what keeps
 * the others from being known: who takes that for the end loses files, or leaves them as they were. */
const struct dirent *directory_next_entry(DIR *entries);
/* Its name alone. */
const char *directory_next(DIR *entries);

/* The names in a directory, but "." and "..", in no order; none where it does not exist. A directory that cannot be
 * read to its end is an error: what would be missed may be what protects a container. Free with g_strfreev(). */
char **directory_list(const char *path, GError **error);

/* Writes the file `name` in the directory `path`: whole or not at all, also if the power fails. Nobody else may do so
 * there meanwhile: it is ".new" while it is written, and what a kill leaves of it the next one writes over. */
bool directory_write_file(const char *path, const char *name, const char *text, mode_t mode, GError **error);

/* Writes a file, whole or not at all unless the power fails, with times[2] of utimensat(2) if not NULL. Others may do
 * so meanwhile: they wait for each other. In a directory of ours: it is ".NAME.new" while it is written, and what a
 * kill leaves of it the next one writes over. */
bool directory_replace_file(const char *path, const char *data, size_t length, mode_t mode,
                            const struct timespec *times, GError **error);

/* Removes what is in a directory, but the file `kept` (NULL: none), and other directories. None is no error. */
bool directory_remove_files(const char *path, const char *kept, GError **error);

/* Removes a directory on /run with all that is in it, but no mount and what is below one. (On an overlay any file
 * looks like one.) Only for what is ours alone: what a payload wrote can be too much for that (volume/tree-copy.h).
 * None is no error; false with errno. */
bool directory_remove_tree(const char *path);
