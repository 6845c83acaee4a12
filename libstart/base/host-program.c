/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/host-program.h"
#include "libstart/base/error.h"

bool host_program_run(const char *const *words, const char *what, GError **error) {
        g_autoptr(GError) problem = NULL;
        int status;

        if (g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status,
                         &problem) &&
            g_spawn_check_wait_status(status, &problem))
                return true;
        return error_set(error, KT_ERROR_FAILED, "%s: %s", what ?: words[0], problem->message);
}
