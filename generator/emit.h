/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Writing into the directory that systemd gave. Everything appears under its name complete or not at all,
 * also when two generators run at the same time. No fsync: the directory is on a tmpfs and made anew at
 * every reload. */

/* name: with the directories it is in, which are made. */
bool emit_file(int directory_fd, const char *name, const GString *text, GError **error);

/* A symbolic link, with the directories it is in. Where the same link is already, that is fine; anything
 * else of that name is an error. */
bool emit_link(int directory_fd, const char *path, const char *target, GError **error);
