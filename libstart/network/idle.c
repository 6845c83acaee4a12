/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/network/idle.h"
#include "libstart/network/namespace-state.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/value/names.h"

#define WAIT_USEC (10 * 1000)
#define WAITS_FOR_STOP 50      /* systemd stops what nobody needs soon after it has seen that, in 20 ms */
#define WAITS_FOR_REMOVAL 1000 /* 10 s for all: a removal takes 0.15 */

/* other: another state that will do, or NULL. */
static bool has_state(const char *unit, const char *state, const char *other) {
        g_autofree char *found = systemd_unit_state(unit, NULL);

        return found && (g_str_equal(found, state) || g_strcmp0(found, other) == 0);
}

/* Where somebody else needs it, the container itself if it runs again, it stays. */
static bool wait_for_end(const char *network, int *waits) {
        for (int i = 0; i < WAITS_FOR_STOP && has_state(network, "active", NULL); i++)
                g_usleep(WAIT_USEC);
        for (; *waits > 0 && has_state(network, "deactivating", NULL); --*waits)
                g_usleep(WAIT_USEC);
        return has_state(network, "inactive", "failed");
}

/* waits: how many are left. */
static bool end(const char *name, int *waits) {
        g_autofree char *network = name_ahead_unit("network", name);
        g_autofree char *moment = g_strconcat("keyturn-idle@", network, NULL);
        g_autoptr(GError) problem = NULL;

        if (!has_state(moment, "active", "activating"))
                return has_state(network, "deactivating", NULL) && wait_for_end(network, waits);
        if (unit_stop(moment, &problem))
                return wait_for_end(network, waits);
        log_warning("%s", problem->message);
        return false;
}

bool idle_networks_end(const char *unit) {
        g_auto(GStrv) names = user_view_is_here() ? NULL : namespace_state_list(NULL);
        int waits = WAITS_FOR_REMOVAL;
        bool ended = false;

        for (char **name = names; name && *name; name++)
                if (!g_str_equal(*name, unit))
                        ended |= end(*name, &waits);
        return ended;
}
