/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/image/waiting.h"
#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/systemd/systemd-call.h"

/* A container that was stopped is inactive. After any other failure a start would fail again. */
static bool waits(const char *unit) {
        g_autofree char *state = systemd_unit_state(unit, NULL);

        return g_strcmp0(state, "failed") == 0 &&
               systemd_unit_number(unit, SYSTEMD_SERVICE, "ExecMainStatus", NULL) == EXIT_NO_IMAGE;
}

/* Who wants this unit, or requires it. */
static void start_of(const char *unit, const char *property) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) others = systemd_unit_list(unit, SYSTEMD_UNIT, property, &error);

        if (error)
                log_warning("Cannot find out which containers wait for the image: %s", error->message);
        for (guint i = 0; others && i < others->len; i++)
                if (waits(others->pdata[i]) && !systemd_call("StartUnit", others->pdata[i], "fail", &error)) {
                        log_warning("Cannot start '%s', which waits for the image: %s",
                                    (const char *) others->pdata[i], error->message);
                        g_clear_error(&error);
                }
}

void waiting_start(const char *unit) {
        start_of(unit, "WantedBy");
        start_of(unit, "RequiredBy");
}
