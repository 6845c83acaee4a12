/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/run/exec-report.h"
#include "libstart/run/timing.h"

/* libcrun, behind a narrow door: only runtime*.c include its headers. */

typedef struct RuntimeContainer {
        const char *state_root; /* libcrun's directory: the container's own on /run. Who made it removes it */
        const char *id;         /* name of the container */
        runtime_spec_schema_config_schema *spec;
        char **environment; /* the payload's, complete; libcrun's own handling of it is not used */
        GBytes *filter;     /* seccomp, raw BPF; NULL is unconfined */
        int layer_mount;    /* detached mount to put on layer_place, first; or -1 */
        const char *layer_place;
        int root_mount;             /* the same, to put on the spec's root.path */
        const char *untrusted_list; /* for the sources of mounts, see host-path.h */
        int preserve_fds;           /* descriptors from 3 on that the payload inherits */
        ExecReport *report;         /* its writer sits on descriptor 3 + preserve_fds */
        Timing *timing;
        bool detach;
} RuntimeContainer;

/* Create the container and execute the payload in it.
 *
 * detach: returns the payload's pid, as seen from here, when the payload is about to be executed. It is a child of the
 * calling process. Otherwise: forwards signals to the payload, waits for it, and returns its exit status, 128 + N for
 * one killed by signal N. -1 on errors, and then nothing is left running. */
int runtime_run(const RuntimeContainer *container, GError **error);

/* Does a process live that the state in STATE_ROOT/ID tells of? One whose number another process has got since does not. */
bool runtime_is_running(const char *state_root, const char *id);
