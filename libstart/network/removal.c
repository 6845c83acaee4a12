/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/log.h"
#include "libstart/network/bridge.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/network/netavark.h"
#include "libstart/network/removal.h"

#define MAX_TRIES 3

/* Names come last when it is made, and go first. */
static bool is_broken(const char *unit) {
        return !namespace_state_has(unit, STATE_NAMES);
}

void removal_announce(const char *unit) {
        if (namespace_state_has(unit, STATE_SETUP))
                (void) namespace_state_write(unit, STATE_GOING, "", NULL);
}

/* What netavark was killed in is half there, and `teardown` stops at the first thing that is missing, or cannot
 * remove a chain that a leftover still refers to. So it is made whole first, in a namespace of its own. */
static void make_whole(const NetworkConf *conf, const char *unit) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS);
        g_autofree char *setup = namespace_state_read(unit, STATE_SETUP, NULL);

        if (!setup)
                return;
        (void) netavark_run(conf, "teardown", pin, setup, NULL, NULL);
        if (namespace_unpin(pin, NULL) && namespace_pin(pin, NULL, NULL))
                (void) netavark_run(conf, "setup", pin, setup, NULL, NULL);
}

/* Where netavark could not make a network, it does not remove its bridge either. */
static void remove_bridges(const char *unit) {
        g_autoptr(SetupSummary) setup = namespace_state_read_summary(unit);

        for (guint i = 0; setup && i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                if (network->bridge)
                        bridge_remove_unused(network->bridge);
        }
}

/* One that is whole, or was made so. */
static bool take_down(const NetworkConf *conf, const char *unit, GError **error) {
        g_autofree char *pin = namespace_state_path(unit, STATE_NETNS),
                        *names = namespace_state_path(unit, STATE_NAMES);
        g_autofree char *setup = namespace_state_read(unit, STATE_SETUP, NULL);
        g_autoptr(GError) problem = NULL;
        bool gone = !setup;

        (void) unlink(names);
        for (int tries = 0; !gone && tries < MAX_TRIES; tries++) {
                if (tries > 0)
                        make_whole(conf, unit);
                g_clear_error(&problem);
                gone = netavark_run(conf, "teardown", pin, setup, NULL, &problem);
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
        g_autoptr(GPtrArray) units = namespace_state_list();

        for (guint i = 0; i < units->len; i++)
                if (is_broken(units->pdata[i]))
                        make_whole(conf, units->pdata[i]);
        for (guint i = 0; i < units->len; i++) {
                g_autoptr(GError) problem = NULL;

                if ((is_broken(units->pdata[i]) || namespace_state_has(units->pdata[i], STATE_GOING)) &&
                    !take_down(conf, units->pdata[i], &problem))
                        log_warning("The network of '%s' is not removed: %s", (const char *) units->pdata[i],
                                    problem->message);
        }
}

bool removal_run(const NetworkConf *conf, const char *unit, GError **error) {
        if (is_broken(unit))
                make_whole(conf, unit);
        return take_down(conf, unit, error);
}
