/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The files of all hooks, in the order in which hooks are run: by their names, whatever the case. Of several
 * directories the later one replaces files of the same name. By default these are hooks_dir of containers.conf(5), or
 * else /usr/share/containers/oci/hooks.d and /etc/containers/oci/hooks.d; one that does not exist has no hooks.
 *
 * root: "" or the directory that stands for /. directories: NULL for the default. Transfer full: of char*, the paths
 * below root. */
GPtrArray *hook_dirs_list(const char *root, char *const *directories, GError **error);
