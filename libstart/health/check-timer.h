/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/check.h"

/* Who has the next check of a container run.
 *  - Until it is healthy or unhealthy: a timer of its own, so that it is checked when its file says.
 *  - After that: the timer of all containers with that interval, keyturn-health-every@SPAN.timer, so that systemd
 *    starts one unit for all of them; that is most of what a check costs. A symbolic link in the container's
 *    directory says so.
 *  - Where its own unit has drop-ins, as for what [Service] lays upon a process, still a timer of its own. */

typedef enum CheckTurn {
        CHECK_FIRST, /* its start, until a timer runs */
        CHECK_STARTUP,
        CHECK_OWN,
        CHECK_SHARED,
} CheckTurn;

/* Who has this one run? To be asked before it ends. */
CheckTurn check_timer_turn(const Check *check);

/* When one of `turn` has ended: who has the next one run? Starts and stops timers where that is another. */
bool check_timer_pass_on(const Check *check, CheckTurn turn, GError **error);

/* The units, without ".service", of all containers that are checked together in this interval. Transfer full. Looks
 * at the link of each container that runs, which takes about a millisecond for 200: to be asked once for a round, and
 * not for each container. */
char **check_timer_find_shared(const char *span);

/* There is none. The timer ends, or goes on where one has come meanwhile. */
bool check_timer_end(const char *span, GError **error);
