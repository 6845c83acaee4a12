/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/stat.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"

bool directory_make(const char *path, mode_t mode, GError **error) {
        bool made = mkdir(path, mode) == 0;

        if (!made && errno == ENOENT) {
                g_autofree char *above = g_path_get_dirname(path);

                if (!directory_make(above, 0755, error))
                        return false;
                made = mkdir(path, mode) == 0;
        }
        /* It is root's, so that nobody has put something else there meanwhile. */
        return (made ? chmod(path, mode) == 0 : errno == EEXIST) ||
               error_set_errno(error, errno, "Cannot make '%s'", path);
}
