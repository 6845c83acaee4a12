/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Writing into the directory that systemd gave. No fsync: it is on a tmpfs and made anew at every reload. */

/* What keyturn's own programs read, be it during a reload: it appears under its name complete or not at all.
 * name: with the directories it is in, which are made. mode: of the file. */
bool emit_file(int directory_fd, const char *name, mode_t mode, const GString *text, GError **error);

/* A unit, which systemd reads when all generators have ended: written where it stays, for a rename(2) of
 * each would be a quarter of the writing. A file of that name is replaced. */
bool emit_unit(int directory_fd, const char *name, mode_t mode, const GString *text, GError **error);

/* A symbolic link, with the directories it is in. Where the same link is already, that is fine; anything
 * else of that name is an error. */
bool emit_link(int directory_fd, const char *path, const char *target, GError **error);
