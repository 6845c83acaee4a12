/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* systemd ends and restarts the relay when it has heard nothing from it for WatchdogSec=. This is about the relay
 * itself, should it ever hang; pipe-workers.c watches the workers.
 *
 * The relay tells systemd when it is awake anyway and a quarter of that time has passed. Only where nothing is logged
 * at all, a timer wakes it after half of the time. No descriptor is kept. */
typedef struct Watchdog {
        const char *address; /* systemd's; NULL: nobody waits for us */
        gint64 interval;     /* microseconds */
        gint64 heard;        /* when it was told last; monotonic */
} Watchdog;

/* From $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, each of which may be NULL. `address` is not copied. */
Watchdog watchdog_new(const char *address, const char *usec, const char *pid);

/* How long one may sleep, in milliseconds as of poll(2). */
int watchdog_timeout(const Watchdog *watchdog, gint64 now);

/* Tell it, if it is time. Never waits: where systemd does not read at the moment, the next call does it. */
void watchdog_tell(Watchdog *watchdog, gint64 now);
