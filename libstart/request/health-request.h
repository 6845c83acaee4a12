/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What the options --health-... ask for. */

/* What is done to a container that is not healthy any more. */
typedef enum HealthAction {
        HEALTH_NOTHING,
        HEALTH_KILL,    /* the payload is killed; Restart= of the unit is what follows */
        HEALTH_RESTART, /* systemd restarts the unit */
        HEALTH_STOP,    /* the payload is stopped as its image or StopSignal= says; Restart= is what follows */
} HealthAction;

typedef enum HealthLog {
        HEALTH_LOG_LOCAL,   /* the container's directory on /run */
        HEALTH_LOG_JOURNAL, /* and each result in the journal */
        HEALTH_LOG_FILE,    /* and a file of a directory that somebody names */
} HealthLog;

/* Spans are in microseconds. */
typedef struct HealthCheck {
        char **command;   /* the words that are executed (health-command.h), owned; NULL: none */
        guint64 interval; /* 0: only when somebody asks for it */
        guint64 timeout;
        guint retries;   /* failures in a row that count; of a startup check: all failures, 0 for any number */
        guint successes; /* of a startup check: how many it takes; 0 is 1 */
} HealthCheck;

typedef struct HealthRequest {
        HealthCheck regular, startup;
        guint64 start_period;
        HealthAction on_failure;
        HealthLog log;
        const char *log_directory; /* of HEALTH_LOG_FILE */
        guint max_log_count;       /* 0: no limit */
        guint max_log_size;        /* bytes of output of each check; 0: no limit */
        bool is_none;              /* the regular command is "none" */
        bool off;                  /* the image's is not run either; always, with `is_none` */
} HealthRequest;

/* Podman's. */
#define HEALTH_SPAN_DEFAULT (30 * G_USEC_PER_SEC)
#define HEALTH_RETRIES_DEFAULT 3
#define HEALTH_LOG_COUNT_DEFAULT 5
#define HEALTH_LOG_SIZE_DEFAULT 500

void health_request_init(HealthRequest *request);

/* A span of time, or "disable" for 0. */
bool health_interval_parse(const char *text, guint64 *ret_usec, GError **error);

/* A span of time that is not 0. */
bool health_timeout_parse(const char *text, guint64 *ret_usec, GError **error);

bool health_count_parse(const char *text, guint *ret, GError **error);
bool health_retries_parse(const char *text, guint *ret, GError **error); /* from 1 on */
bool health_action_parse(const char *text, HealthAction *ret, GError **error);

/* "local", "events_logger", or the path of a directory, which is *ret_directory then. */
bool health_log_parse(const char *text, HealthLog *ret, const char **ret_directory, GError **error);
