/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/stat.h>

#include "generator/files/shadowed-unit.h"

bool shadowed_unit_exists(const char *root, const char *service, const GPtrArray *image_units) {
        static const char *const directories[] = {
                "/etc/systemd/system",     "/run/systemd/system", "/usr/local/lib/systemd/system",
                "/usr/lib/systemd/system", "/lib/systemd/system", /* where it is not the same */
        };

        if (image_units && g_ptr_array_find_with_equal_func((GPtrArray *) image_units, service, g_str_equal, NULL))
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_strconcat(root, directories[i], "/", service, NULL);
                struct stat status;

                if (lstat(path, &status) == 0)
                        return true;
        }
        return false;
}
