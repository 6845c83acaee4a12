/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/enter/enter.h"

/* A command of a health check in a container, its output, and its end. */
typedef struct Probe {
        const Entry *entry; /* its cgroup is made, and belongs to this command alone */
        guint64 timeout;    /* microseconds */
        gsize max_output;   /* bytes that are kept */
} Probe;

typedef struct ProbeResult {
        int exit_status;
        bool timed_out;
        GString *output; /* owned */
} ProbeResult;

/* Waits until the command has ended, or its time is over. Then nothing that it started is left. Fails where it could not
 * be tried; ret->output is there all the same. */
bool probe_run(const Probe *probe, EnterProcess *process, ProbeResult *ret, GError **error);
