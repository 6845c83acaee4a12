/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/health/health-plan.h"

/* What the results of checks make of a container: Podman's rules (libpod/healthcheck.go of Podman 5.4). Pure. */

typedef enum HealthStatus {
        HEALTH_STARTING,
        HEALTHY,
        UNHEALTHY,
} HealthStatus;

const char *health_status_print(HealthStatus status);
bool health_status_parse(const char *text, HealthStatus *ret);

typedef struct HealthState {
        HealthStatus status;
        guint failing_streak; /* of the regular check */
        bool startup_passed;
        guint startup_successes, startup_failures;
        bool told_ready;
        bool untimed; /* no timer runs yet: the first check has not started it */
} HealthState;

/* What a result asks for. */
typedef enum HealthConsequence {
        HEALTH_CHANGED = 1 << 0,        /* the status is another one */
        HEALTH_STARTUP_PASSED = 1 << 1, /* from now on it is the regular check that is run */
        HEALTH_STARTUP_FAILED = 1 << 2, /* too often: the container is to be restarted */
        HEALTH_ACT = 1 << 3,            /* it is unhealthy, again or still: plan->on_failure */
        HEALTH_TELL_READY = 1 << 4,     /* READY=1 */
        HEALTH_HOPELESS = 1 << 5,       /* systemd waits for a success of what cannot be executed */
} HealthConsequence;

/* Is it the startup check's turn? */
bool health_state_is_starting_up(const HealthState *state, const HealthPlan *plan);

/* Of that check, or else the regular one. exit_status: of its command, or something else than 0 where it has none.
 * in_start_period: it began in it. Returns HealthConsequences. */
guint health_state_apply(HealthState *state, const HealthPlan *plan, gint64 exit_status, bool in_start_period);
