/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "libstart/base/log.h"
#include "libstart/network/description-renewal.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/value/names.h"

/* Somebody's drop-in may require others. */
static bool describes(const char *service) {
        g_autofree char *source = systemd_unit_text(service, SYSTEMD_UNIT, "SourcePath", NULL);

        return source && g_str_has_suffix(source, ".network");
}

bool network_describe_again(const char *unit) {
        g_autofree char *own = name_ahead_unit("network", unit);
        g_autoptr(GPtrArray) required = systemd_unit_list(own, SYSTEMD_UNIT, "Requires", NULL);
        bool described = false;

        for (guint i = 0; required && i < required->len; i++) {
                g_autoptr(GError) problem = NULL;

                if (!describes(required->pdata[i]))
                        continue;
                described = unit_restart(required->pdata[i], &problem);
                if (!described) {
                        log_warning("%s", problem->message);
                        return false;
                }
        }
        return described;
}
