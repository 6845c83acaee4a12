/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/health/image-health.h"
#include "libstart/request/request.h"

/* What is run to see whether a container is well, and what follows: the request, and where that names no check the
 * image. libstart finds it at the start and writes it down; who runs a check reads it. Spans are in microseconds. */

/* Who lets it be run time and again, once the first check has been run. */
typedef enum HealthTimer {
        HEALTH_TIMER_NONE,
        HEALTH_TIMER_UNIT,      /* the unit that keyturn-generator has written */
        HEALTH_TIMER_TRANSIENT, /* one that is made then, as the generator knows no image */
} HealthTimer;

/* The units of a container's checks; %s is its own, without ".service". */
#define HEALTH_SERVICE "keyturn-health@%s.service"
#define HEALTH_TIMER "keyturn-health-%s.timer"
#define HEALTH_STARTUP_TIMER "keyturn-startup-health-%s.timer"

typedef struct HealthPlan {
        char *name; /* the container's */
        HealthCheck regular, startup;
        HealthTimer timer;             /* of the regular one */
        guint64 start_period, started; /* `started`: on CLOCK_BOOTTIME */
        HealthAction on_failure;
        HealthLog log;
        char *runtime;       /* the OCI runtime that runs the container; NULL: crun's library */
        char *log_directory; /* of HEALTH_LOG_FILE */
        guint max_log_count, max_log_size;
        guint filters;   /* what systemd laid upon the payload: base/process.h */
        bool unconfined; /* the payload has no filter of keyturn's */
        bool notify;     /* the first success is what READY=1 waits for */
} HealthPlan;

/* `image`: NULL where it names no check. *ret is NULL, without an error, where there is nothing to be run. Transfer
 * full. */
bool health_plan_make(const ContainerRequest *request, const ImageHealth *image, HealthPlan **ret, GError **error);
void health_plan_free(HealthPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HealthPlan, health_plan_free)

/* Lines, "NAME VALUE". parse(print(x)) == x. Transfer full. */
char *health_plan_print(const HealthPlan *plan);
HealthPlan *health_plan_parse(const char *text, GError **error);

/* What can be read of it, and defaults for what cannot: who may not run the check knows what follows nevertheless.
 * *damage: what health_plan_parse() says. NULL, with that, where not even the container's name can be read. Transfer
 * full. */
HealthPlan *health_plan_salvage(const char *text, GError **damage);
