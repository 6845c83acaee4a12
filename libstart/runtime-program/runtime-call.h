/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Takes this process's place. `words` end with NULL. It gets an environment that systemd's words for libstart are not
 * in: runc and crun would act upon these. Returns only where that has failed, with errno. */
void runtime_program_execute(const GPtrArray *words);

typedef struct RuntimeCall {
        GPtrArray *words;      /* terminated by the call */
        const char *state_dir; /* the container's: what the program left in its log last is in the error */
        const char *what;      /* for that: "create the container" */
        int n_passed;          /* our descriptors from 3 on that it has beside the standard streams */
        bool reaps; /* whatever child of ours ends meanwhile is forgotten: gVisor waits for its sandbox to be gone */
        bool takes_along; /* where it fails, or this process is killed, all that it has made is killed, too */
} RuntimeCall;

/* Runs it and waits for its end. */
bool runtime_program_call(const RuntimeCall *call, GError **error);
