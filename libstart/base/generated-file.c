/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/generated-file.h"

bool generated_file_read(const char *path, char **ret_data, gsize *ret_length, GError **error) {
        for (int tries = 0;; tries++) {
                g_autoptr(GError) problem = NULL;

                if (g_file_get_contents(path, ret_data, ret_length, &problem))
                        return true;
                if (tries == 200 || !g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
                        g_propagate_error(error, g_steal_pointer(&problem));
                        return false;
                }
                g_usleep(10 * G_TIME_SPAN_MILLISECOND);
        }
}
