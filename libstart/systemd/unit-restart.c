/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/systemd/unit-restart.h"
#include "libstart/base/host-program.h"
#include "libstart/base/user-view.h"

#define SYSTEMCTL "/usr/bin/systemctl"

static bool call(const char *verb, const char *unit, const char *mode, GError **error) {
        const char *words[] = { SYSTEMCTL, verb, mode, user_view_is_entered() ? "--user" : "--system", unit, NULL };
        g_autofree char *what = g_strdup_printf("Cannot %s %s", verb, unit);

        return host_program_run(words, what, error);
}

bool unit_restart(const char *unit, GError **error) {
        return call("restart", unit, "--job-mode=ignore-dependencies", error);
}

bool unit_restart_for_start(const char *unit, Notify *systemd, const char *does, guint64 sec, GError **error) {
        g_autofree char *said = g_strdup_printf(
                "STATUS=Waits for %s, which %s\nEXTEND_TIMEOUT_USEC=%" G_GUINT64_FORMAT, unit, does,
                sec * G_USEC_PER_SEC);

        (void) notify_send(systemd, said, NULL);
        return unit_restart(unit, error);
}

bool unit_restart_with_others(const char *unit, GError **error) {
        return call("restart", unit, "--job-mode=replace", error);
}

bool unit_stop(const char *unit, GError **error) {
        return call("stop", unit, "--job-mode=replace", error);
}
