/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Moves bytes from a payload's pipe to the journal so that being killed at any point loses none: they are
 * copied out of the pipe with tee(2), which leaves them there, then sent, and only what was sent is then
 * taken from the pipe. A kill between the last two steps sends them again.
 *
 * Only whole lines are sent, so that it is whole lines that such a repetition repeats. The begin of a
 * line waits in the pipe for its end, unless it fills the pipe or is longer than a batch. (journald does
 * not show it any earlier either, and would lose it at a restart of its own.) */
typedef struct Pump {
        int scratch_read, scratch_write; /* where tee(2) copies to; empty between two calls; non-blocking; or -1 */
        char *buffer;
} Pump;

/* Makes the buffer; the scratch pipe is made when it is needed. pump_clear() frees both. */
void pump_open(Pump *pump);
void pump_clear(Pump *pump);

typedef enum PumpResult {
        PUMP_IDLE,    /* nothing that could be sent is in the pipe; wait for the next event of it */
        PUMP_WAITING, /* the same, but the begin of a line is there, and waits for its end */
        PUMP_MORE,    /* something was sent, and there may be more */
        PUMP_BLOCKED, /* the receiver is full (-EAGAIN) */
        PUMP_FAILED,  /* the receiver (or the pipe) failed, see errno; nothing was taken from the pipe */
        PUMP_ENDED,   /* the pipe is empty and has no writer any more */
} PumpResult;

/* Returns how many bytes were taken, or a negative errno. May change the data. */
typedef ssize_t (*PumpSend)(char *data, size_t size, void *context);

/* Move one batch. `hung_up`: no writer is left (EPOLLHUP), so the begin of a line is all there will be of it. The
 * pipe must be non-blocking, and watched edge-triggered: after PUMP_WAITING it is still readable. Does a bounded
 * amount of work, whatever the pipe's other users do to it, but may wait for the kernel's lock of the pipe. */
PumpResult pump_move(Pump *pump, int pipe, bool hung_up, PumpSend send, void *context);
