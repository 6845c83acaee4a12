/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/network/bridge.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/network/netavark.h"
#include "libstart/network/removal.h"
#include "libstart/network/user-bridges.h"

#define MAX_TRIES 3

/* Names come last when it is made, and go first. Of a user's may be some that pasta is about to make, without our
 * lock. */
static bool is_broken(const char *unit) {
        return namespace_state_lacks(unit, STATE_NAMES) &&
               (!user_view_is_here() || namespace_state_has(unit, STATE_SETUP));
}

void removal_announce(const char *unit) {
        if (namespace_state_has(unit, STATE_SETUP))
                (void) namespace_state_write(unit, STATE_GOING, "", NULL);
}

/* What netavark made has gone with the namespace that it was in. */
static bool lost_bridges(void) {
        _cleanup_close_ int bridges = user_view_is_here() ? user_bridges_open() : -1;

        return user_view_is_here() && bridges < 0;
}

/* What netavark was killed in is half there, and `teardown` stops at the first thing that is missing, or cannot
 * remove a chain that a leftover still refers to. So it is made whole first, in a namespace of its own. */
static void make_whole(const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);
        g_autofree char *setup = NULL;

        if (!namespace_state_read(unit, STATE_SETUP, &setup, NULL) || !setup || lost_bridges())
                return;
        (void) netavark_run(conf, "teardown", pin, setup, NULL, NULL);
        if (namespace_unpin(pin, NULL) && namespace_pin(pin, NULL, NULL))
                (void) netavark_run(conf, "setup", pin, setup, NULL, error);
        else
                error_set(error, KT_ERROR_NOT_EXECUTABLE, "netavark has no namespace");
}

/* Where netavark could not make a network, it does not remove its bridge either. */
static void remove_bridges(const char *unit) {
        g_autoptr(SetupSummary) setup = NULL;

        if (user_view_is_here()) /* it would be looked for among the machine's; this one goes with its namespace */
                return;
        (void) namespace_state_read_summary(unit, &setup, NULL);
        for (guint i = 0; setup && i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                if (network->bridge)
                        bridge_remove_unused(network->bridge);
        }
}

/* One that is whole, or was made so. */
static bool take_down(const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS),
                        *names = namespace_state_path(unit, STATE_NAMES), *setup = NULL;
        g_autoptr(GError) problem = NULL, whole = NULL;
        bool gone;

        /* Without, nobody would ever know of its rules. */
        if (!namespace_state_read(unit, STATE_SETUP, &setup, error))
                return false;
        gone = !setup || lost_bridges();
        (void) unlink(names);
        for (int tries = 0; !gone && tries < MAX_TRIES; tries++) {
                g_clear_error(&whole);
                if (tries > 0)
                        make_whole(conf, unit, &whole);
                g_clear_error(&problem);
                gone = netavark_run(conf, "teardown", pin, setup, NULL, &problem);
        }
        /* It has not even tried: that is left to whoever comes next. */
        if (!gone && (g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_EXECUTABLE) ||
                      g_error_matches(whole, KT_ERROR, KT_ERROR_NOT_EXECUTABLE))) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        if (!gone) {
                log_warning("What is left of the network of '%s' may not be all gone: %s", unit, problem->message);
                (void) namespace_unpin(pin, NULL);
                remove_bridges(unit);
        }
        return namespace_state_remove(unit, error);
}

/* Of several that share a network, all have to be whole before the first is taken down. */
void removal_sweep(const NetworkConf *conf) {
        g_autoptr(GError) unknown = NULL;
        g_auto(GStrv) units = namespace_state_list(&unknown);

        if (!units)
                log_warning("What is left of other networks is not removed: %s", unknown->message);
        for (char **unit = units; unit && *unit; unit++)
                if (is_broken(*unit))
                        make_whole(conf, *unit, NULL);
        for (char **unit = units; unit && *unit; unit++) {
                g_autoptr(GError) problem = NULL;

                if ((is_broken(*unit) || namespace_state_has(*unit, STATE_GOING)) &&
                    !take_down(conf, *unit, &problem))
                        log_warning("The network of '%s' is not removed: %s", *unit, problem->message);
        }
}

bool removal_run(const NetworkConf *conf, const char *unit, GError **error) {
        if (is_broken(unit))
                make_whole(conf, unit, NULL);
        return take_down(conf, unit, error);
}
