/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* An application: the files that keyturnctl has installed together. It is a directory in the search path, with a list
 * of its files, so that whatever else lies there is not touched. */

#define APPLICATIONS "/etc/containers/systemd"

/* The list: a file in the directory, of paths below it, one in each line. systemd and Podman read no such name. */
#define APPLICATION_LIST ".keyturn-installed"

/* One part of a path, that begins with a letter or a digit: the name of its directory in APPLICATIONS. */
bool application_check_name(const char *name, GError **error);

/* Its files, from the list, in the directory `path`. Nothing where there is no list: somebody else has made it.
 * Array of char*; NULL with an error. */
GPtrArray *application_list(const char *path, GError **error);
bool application_write_list(const char *path, const GPtrArray *files, GError **error);

/* The units of its files, or of those that run, by what systemd knows; none where it cannot be asked. Transfer full.
 */
char **application_find_units(const char *path, bool running_only);

/* Removes these files, and directories that are empty then. As long as there is the list it can be said again. */
bool application_remove(const char *path, const GPtrArray *files, GError **error);

/* When systemd has reloaded: removes the list, and the directory. False: others have files there. */
bool application_forget(const char *path);

/* systemctl VERB [UNIT...]. units: NULL: none. */
bool application_systemctl(const char *verb, char **units, GError **error);
