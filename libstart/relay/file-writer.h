/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/relay/pump.h"

/* Writes what comes out of pipes to files. A file may keep its writer waiting for as long as it likes: a disk that is
 * slow, a terminal that is stopped, a FIFO that nobody reads. So each turn of a pipe has a thread, which ends when the
 * pipe is empty: one that waits is waited for by nobody, and where nothing is written there is no thread. */
typedef struct FileTurn {
        int pipe, file;
        gsize *left;  /* how many bytes may be moved yet; the thread counts them down, unless it is G_MAXSIZE */
        void *owner;  /* of the caller's */
        bool running; /* set by file_writer_start(); the turn is the thread's until file_writer_next() gives it back */
        bool again;   /* the caller's: something happened meanwhile */
        int ended;    /* atomic, the caller's: the payload has ended, and what is left waits for room only a moment */

        /* What became of it: */
        PumpResult result;
        int errnum;      /* of PUMP_FAILED */
        gsize written;   /* bytes, in this turn */
        gsize lost;      /* bytes, ever, that the file did not take */
        int lost_errnum; /* why; 0: it took everything in this turn */
        int done;        /* where to say it */
        int sink;        /* the thread's: the file, or a description of its own of it */
} FileTurn;

typedef struct FileWriter {
        int done_read, done_write;
} FileWriter;

#define FILE_WRITER_NULL { -1, -1 }

/* `done_read` becomes readable when a turn is over. */
bool file_writer_open(FileWriter *writer, GError **error);
void file_writer_clear(FileWriter *writer);

/* Move what is in the pipe, as it is, not only whole lines; up to some batches, then it is PUMP_MORE. What a file does
 * not take for good (it is full, its terminal is gone) is dropped, as it would be if the payload wrote it: better to lose
 * a part of a log than to stop who writes it. */
bool file_writer_start(FileWriter *writer, FileTurn *turn, GError **error);

/* A turn that is over; NULL: there is none. */
FileTurn *file_writer_next(FileWriter *writer);
