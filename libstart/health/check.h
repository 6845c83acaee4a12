/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/health/health-record.h"
#include "libstart/health/probe.h"

/* A check of a container, in its order: open, begin, prepare and advance until it has ended, end. It is of one start
 * of the container, and says nothing about another. So all its files are opened below the directory that it found
 * first, which systemd removes at the stop. The plan must be the same at the end, and the payload, which is held by a
 * pidfd, must live. */
typedef struct Check {
        char *unit; /* without ".service" */
        char *path; /* the container's directory on /run */
        int directory;
        int plan_file; /* locked: there is one check at a time */
        HealthPlan *plan;
        HealthRecord *record;
        Entry entry;
        char *cgroup, *config;
        int payload; /* a pidfd */
        Probe probe;
        GDateTime *begin;
        GError *unread;  /* why there is no record of the checks before */
        GError *untried; /* why it could not be begun, or cannot be: then it counts as one that has failed */
        ProbeResult result;
        bool in_start_period;
} Check;

/* That one holds at most while it is under way: the Check's and the Probe's. */
#define CHECK_DESCRIPTORS 5

Check *check_new(const char *unit);
void check_free(Check *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Check, check_free)

/* `wait`: for another check of it to end, and the first one for a payload that is being started. False without an
 * error where there is no container, or none with a check, or somebody else's check is under way. Where fewer filters
 * are upon the caller than upon the payload the error is KT_ERROR_UNSUPPORTED, and in the container's record, too. */
bool check_open(Check *check, bool wait, GError **error);

void check_begin(Check *check);

#define CHECK_POLLS 2

/* As probe_prepare() and probe_advance(); the container's end is one of the check's, too. One that could not be begun
 * has ended. */
gint64 check_prepare(const Check *check, struct pollfd polls[CHECK_POLLS]);
bool check_advance(Check *check, const struct pollfd polls[CHECK_POLLS]);

/* When it has ended. Waits for nothing. */
void check_reap(Check *check);

/* Can check_end() wait for somebody: systemd, or a file system that is not ours? */
bool check_end_can_wait(const Check *check);

/* When it is reaped: writes down and logs what was found, as HealthConsequences. False without an error where that is
 * nothing: what was cut short by the container's end says nothing, nor does what failed in its stop. */
bool check_end(Check *check, guint *ret_consequences, GError **error);

/* Notes that READY=1 is told, and that a timer has the next check run: until it is written down, the next one sees to
 * it. */
bool check_settle(Check *check, bool is_told, bool is_timed, GError **error);

/* Has the payload ended? */
bool check_is_over(const Check *check);
