/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-plan.h"
#include "libstart/oci/payload-plan.h"
#include "libstart/runtime/runtime-container.h"
#include "libstart/service/payload-log.h"
#include "libstart/service/payload-notify.h"

/* A payload that is ready to run, and who is told of it. Owns nothing. */
typedef struct PayloadRun {
        RuntimeContainer container;
        const PayloadPlan *plan;
        const char *unit;         /* the name of the service */
        const UserIdentity *user; /* the payload's ids as the host has them */
        PayloadLog *log;
        PayloadNotify *notify;
        Notify *systemd;             /* or NULL */
        const HealthPlan *health;    /* or NULL */
        const GPtrArray *made_files; /* made-files.h; or NULL */
} PayloadRun;

/* By libcrun or the runtime of the request: hand the payload over to systemd, or wait for it. Returns the exit status
 * for this process, also with *error set; -1: an error that says no more. */
int payload_run(PayloadRun *run, GError **error);
