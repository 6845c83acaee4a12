/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/run/unit-restart.h"
#include "libstart/base/error.h"

#define SYSTEMCTL "/usr/bin/systemctl"

bool unit_restart(const char *unit, GError **error) {
        const char *words[] = { SYSTEMCTL, "restart", "--job-mode=ignore-dependencies", unit, NULL };
        g_autoptr(GError) problem = NULL;
        int status;

        if (g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status,
                         &problem) &&
            g_spawn_check_wait_status(status, &problem))
                return true;
        return error_set(error, KT_ERROR_FAILED, "Cannot restart %s: %s", unit, problem->message);
}
