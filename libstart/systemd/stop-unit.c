/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "libstart/base/log.h"
#include "libstart/systemd/stop-unit.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/value/signal-name.h"

void stop_unit_start(const char *unit, int signal) {
        g_autofree char *stop_unit = g_strconcat("keyturn-stop@", unit, NULL), *name = signal_name_print(signal);
        g_autoptr(GError) error = NULL;

        if (!systemd_call("StartUnit", stop_unit, "fail", &error))
                log_warning("The image wants to be stopped by %s, and will be by KillSignal= of the unit: add "
                            "StopSignal=%s to [Container] (%s)",
                            name, name, error->message);
}
