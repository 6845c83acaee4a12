/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Where the time of a start goes. A mark is one clock_gettime(2), which needs no system call, into memory that the
 * container's first process shares; so it is always on. In the order in which they come: */
typedef enum TimingMark {
        TIMING_MAIN,      /* main() begins */
        TIMING_IMAGE,     /* the image was found */
        TIMING_ROOT,      /* its root is prepared and mounted */
        TIMING_SPEC,      /* the OCI spec is built */
        TIMING_FILTER,    /* the seccomp filter is there */
        TIMING_RUNTIME,   /* libcrun is called */
        TIMING_NAMESPACE, /* in the container: its namespaces exist, before any mount */
        TIMING_MOUNTS,    /* in the container: everything is mounted */
        TIMING_EXEC,      /* in the container: the payload is about to be executed */
        TIMING_STARTED,   /* libstart knows that the payload runs */
        TIMING_TOLD,      /* systemd was told */
        N_TIMING_MARKS,
} TimingMark;

typedef struct Timing Timing;

/* To be called first of all: what this process has computed until then, since systemd forked it, is the first phase.
 * Never fails: without shared memory the marks of the container are missing. */
Timing *timing_new(void);
void timing_free(Timing *timing);

void timing_mark(Timing *timing, TimingMark mark);

/* Leave the phases in the file ".timing" of `directory`, for `keyturnctl analyze`. With `aloud` say them, too: to the
 * journal, in the name of `unit`, or to whoever has called libstart by hand. */
void timing_report(const Timing *timing, const char *directory, const char *unit, bool aloud);
