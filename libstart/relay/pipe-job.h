/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "libstart/relay/journal-entry.h"
#include "libstart/relay/level-prefix.h"
#include "libstart/relay/pump.h"

/* Whatever takes the kernel's lock of a payload's pipe: moving what is in it, and closing it. It may wait for that
 * lock for as long as the payload likes, and nothing ends the wait (pump.c). So it is done by a worker
 * (pipe-workers.h). */

/* Move what is in a pipe to the journal or to a file. */
typedef struct PipeMove {
        int pipe;
        int journal;  /* -1: not connected */
        int file;     /* or -1: to the journal */
        int sink;     /* of a file: where it is written to, the file or a description of its own; -1 at first */
        bool hung_up; /* the pipe has no writer any more */
        bool ended;   /* the payload has: only what is in the pipe then is moved */
        bool yield;   /* give the pipe's writer the processor first */
        struct ucred sender;             /* in whose name the journal gets it */
        char fields[JOURNAL_FIELDS_MAX]; /* of a user's relay: what is sent instead of a name; else "" */
        int payload;                     /* its pidfd, as long as it can be reaped; or -1 */
        LevelPrefix prefix;              /* changed */
        gsize left;      /* how much may be moved yet, G_MAXSIZE until the payload has ended; changed */
        gsize moved;     /* bytes that were moved */
        gsize lost;      /* of those: that the file did not take */
        int lost_errnum; /* why; or 0 */
        int errnum;      /* of PUMP_FAILED: ENOTCONN without a connection, ESRCH without a sender */
        PumpResult result;
} PipeMove;

#define PIPE_JOB_FDS_MAX 8

typedef struct PipeJob {
        enum { PIPE_JOB_MOVE, PIPE_JOB_CLOSE } kind;
        union {
                PipeMove move;
                int fds[PIPE_JOB_FDS_MAX]; /* to be closed; the rest is -1 */
        };
        gint64 usec;      /* how long it took */
        atomic_bool done; /* all of the above is as it will be */
} PipeJob;

/* Do it. */
void pipe_job_run(PipeJob *job, Pump *pump);
