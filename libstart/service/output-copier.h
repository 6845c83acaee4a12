/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* In the foreground, the output of a payload goes to the caller's files and terminal through a pipe, as what must not
 * be the payload's (see RelayOutput): a process beside libstart, which is there as long as the payload anyway, copies
 * it. When libstart returns all of it is written, so that a script finds in its file what the container said. */
typedef struct OutputCopier {
        pid_t pid;    /* 0: there is none */
        int write[2]; /* for the payload's standard output and error; -1 where it gets the caller's */
} OutputCopier;

#define OUTPUT_COPIER_NULL { .write = { -1, -1 } }

/* `files`: where to copy what; -1 for nothing. Both to the same file is one pipe. */
bool output_copier_start(OutputCopier *copier, const int files[2], GError **error);

/* When all who have the pipes have closed them, this process first: waits until everything is written, and warns
 * if that could not be. */
void output_copier_finish(OutputCopier *copier);
