/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/systemd/unit-restart.h"
#include "libstart/base/host-program.h"

#define SYSTEMCTL "/usr/bin/systemctl"

bool unit_restart(const char *unit, GError **error) {
        const char *words[] = { SYSTEMCTL, "restart", "--job-mode=ignore-dependencies", unit, NULL };
        g_autofree char *what = g_strconcat("Cannot restart ", unit, NULL);

        return host_program_run(words, what, error);
}
