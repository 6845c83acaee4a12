/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <sys/stat.h>

#include "libstart/base/directory.h"

bool directory_make(const char *path, mode_t mode) {
        g_autofree char *above = g_path_get_dirname(path);

        return g_mkdir_with_parents(above, 0755) == 0 && (mkdir(path, mode) == 0 || errno == EEXIST);
}
