/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* An application: the files that keyturnctl has installed together. It is a directory in the search path, with a list
 * of its files, so that whatever else lies there is not touched. */

#define APPLICATIONS "/etc/containers/systemd"

/* The list: a file in the directory, of paths below it, one in each line. systemd and Podman read no such name. */
#define APPLICATION_LIST ".keyturn-installed"

/* One part of a path, that begins with a letter or a digit. */
bool application_check_name(const char *name, GError **error);

/* Its directory. Transfer full. */
char *application_path(const char *name);

/* Its files, from the list, in the directory `path`. Nothing where there is no list: somebody else has made it.
 * Array of char*; NULL with an error. */
GPtrArray *application_list(const char *path, GError **error);
bool application_write_list(const char *path, const GPtrArray *files, GError **error);

/* Files of this application that run, by what systemd knows: all: of ContainerUnit. Array of their units, of const
 * char*, in the order of `all`. */
GPtrArray *application_find_units(const char *path, const GPtrArray *all, bool running_only);

/* Removes what the list names, and directories that are empty then. *ret_is_left: others have files there. */
bool application_remove(const char *path, bool *ret_is_left, GError **error);

/* systemctl VERB [UNIT...]. units: of const char *, or NULL. */
bool application_systemctl(const char *verb, const GPtrArray *units, GError **error);
