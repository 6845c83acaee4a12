/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <poll.h>
#include <stdbool.h>

#include "libstart/enter/enter.h"

typedef struct ProbeOutput ProbeOutput;

/* A command of a health check in a container, its output, and its end. Several can be under way: the caller asks
 * each for its descriptors, polls them together, and hands each its results. */
typedef struct Probe {
        const Entry *entry; /* its cgroup is made, and belongs to this command alone */
        const char *config; /* of libcrun: what the payload is */
        char **command;
        guint64 timeout;  /* microseconds */
        gsize max_output; /* bytes that are kept */

        pid_t pid;           /* the process that reads its output, and ends after it */
        int process;         /* its pidfd */
        int group;           /* the cgroup's directory */
        ProbeOutput *output; /* as much as was read */
        char *kept;          /* of that */
        gint64 deadline;     /* of g_get_monotonic_time() */
        bool timed_out, killed;
} Probe;

typedef struct ProbeResult {
        int exit_status;
        bool timed_out;
        bool is_left;       /* it cannot be killed, and was given up */
        const char *output; /* of the Probe */
} ProbeResult;

/* Fails where it could not be tried. */
bool probe_start(Probe *probe, GError **error);

/* What it waits for. Returns until when at most, of g_get_monotonic_time(). */
gint64 probe_prepare(const Probe *probe, struct pollfd *ret_poll);

/* What has come. Returns whether the command has ended; where its time is over, it is killed first, and where it does
 * not end then, it is given up soon. */
bool probe_advance(Probe *probe, const struct pollfd *poll);

/* All that it has started, too. It ends then, or is given up. */
void probe_kill(Probe *probe);

/* When it has ended: nothing that it started is left that can be killed. Waits for nothing. */
ProbeResult probe_end(Probe *probe);
void probe_clear(Probe *probe);
