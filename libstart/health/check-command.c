/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/check-command.h"
#include "libstart/base/error.h"
#include "libstart/health/check-follow.h"

static void await(Check *check) {
        struct pollfd polls[CHECK_POLLS];

        do {
                gint64 left = check_prepare(check, polls) - g_get_monotonic_time();
                gint64 msec = CLAMP(left / G_TIME_SPAN_MILLISECOND + 1, 0, G_MAXINT);

                if (poll(polls, CHECK_POLLS, (int) msec) < 0)
                        for (size_t i = 0; i < CHECK_POLLS; i++)
                                polls[i].revents = 0;
        } while (!check_advance(check, polls));
}

/* Returns whether the next check is to be run at once: the first regular one. */
static bool run_once(const char *unit, GError **error) {
        g_autoptr(Check) check = check_new(unit);
        guint consequences;
        CheckTurn turn;

        if (!check_open(check, /* wait= */ true, error))
                return false;
        turn = check_timer_turn(check);
        check_begin(check);
        await(check);
        check_reap(check);
        return check_end(check, &consequences, error) && check_follow(check, turn, consequences, error) &&
               consequences & HEALTH_STARTUP_PASSED;
}

bool check_command(const char *unit, GError **error) {
        if (enter_protect(error))
                while (run_once(unit, error))
                        ;
        return !*error;
}
