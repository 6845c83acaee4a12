/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-state.h"

/* A container's health as root may read it, in a file of its directory on /run: JSON, in the form of Podman's
 * healthcheck.log, and some more that the next check needs. Pure. */

#define HEALTH_RECORD_FILE ".health.json"
#define HEALTH_PLAN_FILE ".health-plan"
/* Where the container is checked with others: the interval, which the target is (health/check-timer.h). */
#define HEALTH_TURN_LINK ".health-every"

typedef struct HealthResult {
        char *start, *end; /* RFC 3339 */
        gint64 exit_code;  /* of the command; -1: it took too long */
        char *output;      /* as much of it as is kept; UTF-8 */
} HealthResult;

typedef struct HealthRecord {
        HealthState state;
        GPtrArray *log; /* of HealthResult, the last one last */
} HealthRecord;

HealthRecord *health_record_new(void);
void health_record_free(HealthRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HealthRecord, health_record_free)

/* Of the output of all results together. Each check reads and writes all of it, and all of it is memory of the
 * host's. A thousand results of HealthMaxLogSize='s default fit. */
#define HEALTH_LOG_SIZE_MAX (512 * 1024)

/* Of at most `max` results, unless that is 0, and of a limited size: the first ones go. Takes ownership of result. */
void health_record_add(HealthRecord *record, HealthResult *result, guint max);

/* parse(print(x)) == x. Transfer full. */
char *health_record_print(const HealthRecord *record);
HealthRecord *health_record_parse(const char *text, GError **error);
