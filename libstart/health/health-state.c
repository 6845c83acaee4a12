/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/health/health-state.h"
#include "libstart/base/exit-codes.h"

static const char *const names[] = {
        [HEALTH_STARTING] = "starting",
        [HEALTHY] = "healthy",
        [UNHEALTHY] = "unhealthy",
};

const char *health_status_print(HealthStatus status) {
        return names[status];
}

bool health_status_parse(const char *text, HealthStatus *ret) {
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_str_equal(text, names[i])) {
                        *ret = (HealthStatus) i;
                        return true;
                }
        return false;
}

bool health_state_is_starting_up(const HealthState *state, const HealthPlan *plan) {
        return plan->startup.command && !state->startup_passed;
}

/* Neither number begins anew when the other one grows. */
static guint count_startup(HealthState *state, const HealthCheck *startup, bool success) {
        if (!success)
                return ++state->startup_failures >= startup->retries && startup->retries > 0 ? HEALTH_STARTUP_FAILED :
                                                                                               0;
        if (++state->startup_successes < startup->successes)
                return 0;
        state->startup_passed = true;
        return HEALTH_STARTUP_PASSED;
}

/* One success makes it healthy at any time, also one of a startup check that needs more of them. Failures of that,
 * and those in the start period, do not count. A command that is not there now (a shell says so, too, of what it is
 * to run) will not be there the next time: a payload that brings its check itself has the start period for that. */
guint health_state_apply(HealthState *state, const HealthPlan *plan, gint64 exit_status, bool in_start_period) {
        bool is_startup = health_state_is_starting_up(state, plan), success = exit_status == 0;
        HealthStatus before = state->status;
        guint result = is_startup ? count_startup(state, &plan->startup, success) : 0;

        if (success) {
                state->status = HEALTHY;
                state->failing_streak = 0;
        } else if (!is_startup && !in_start_period && ++state->failing_streak >= plan->regular.retries)
                state->status = UNHEALTHY;
        if (state->status != before)
                result |= HEALTH_CHANGED;
        if (!is_startup && state->status == UNHEALTHY)
                result |= HEALTH_ACT;
        if (plan->notify && state->status == HEALTHY && !state->told_ready)
                result |= HEALTH_TELL_READY;
        if (plan->notify && !state->told_ready && !in_start_period &&
            (exit_status == EXIT_NOT_FOUND || exit_status == EXIT_NOT_EXECUTABLE))
                result |= HEALTH_HOPELESS;
        return result;
}
