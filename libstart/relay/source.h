/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/relay-client/record.h"
#include "libstart/relay/fd-store.h"
#include "libstart/relay/late-pid.h"
#include "libstart/relay/level-prefix.h"
#include "libstart/relay/pipe-job.h"

/* One container, as the relay sees it: up to two pipes, each with its own connection to the journal, or with a file
 * that systemd opened for the unit (StandardOutput=file:, tty and the like). The payload must not get a descriptor of
 * such a file: root in a container could change its mode, and open it again. */

typedef struct RelaySource RelaySource;

typedef struct RelayStream {
        RelaySource *source;
        bool is_stderr;
        int pipe;        /* -1: no such stream, or it has ended */
        int journal;     /* -1: to be opened when there is something to say */
        int file;        /* goes there instead; or -1 */
        int sink;        /* of a file: what is written to (PipeMove), or -1 */
        bool hung_up;    /* the pipe has no writer any more */
        bool queued;     /* in one of the loop's queues */
        bool busy;       /* a worker has it */
        bool again;      /* meanwhile something happened */
        bool complained; /* said already that its lines are not taken */
        gsize moved;     /* bytes since the pipe was empty */
        guint rechecks;  /* since something was moved */
        bool rechecked;  /* in the loop's queue for that */
        LevelPrefix prefix;
        gsize left;        /* how much may be moved yet; G_MAXSIZE until the payload has ended */
        gsize lost;        /* bytes that the file did not take */
        gint64 full_since; /* monotonic: the file has no room, though the payload has ended; or 0 */
} RelayStream;

enum { SOURCE_STDOUT, SOURCE_STDERR, SOURCE_STREAMS };

struct RelaySource {
        RelayRecord record;
        char *name;        /* in the store: the inode number of its first pipe */
        int memory;        /* the record, for our next incarnation */
        int payload;       /* pidfd; -1: it had been reaped before there was one */
        bool ended;        /* the payload has, and with it all other processes of its PID namespace */
        bool reaped;       /* its id may be another's */
        LatePid late;      /* once it has been reaped */
        gint64 slow_until; /* monotonic: till then others are not to wait for it */
        bool was_held;     /* said already that it was */
        RelayStream streams[SOURCE_STREAMS];
};

/* From a registration: fds[RelayRole], -1 where there is none. Both `record` and `fds` are taken over,
 * also on errors. */
RelaySource *relay_source_new(RelayRecord *record, int *fds, GError **error);

/* From what the store kept under `name`; takes over `fds`, also on errors. */
RelaySource *relay_source_restore(const char *name, const int *fds, gsize n_fds, GError **error);

/* Closes all, but leaves it in the store. */
void relay_source_free(RelaySource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RelaySource, relay_source_free)

/* Leave everything in the store. */
bool relay_source_store(RelaySource *source, FdStore *store, GError **error);

bool relay_source_ended(const RelaySource *source);

/* Open the stream's connection to the journal, and leave it in the store. Never waits. */
bool relay_stream_connect(RelayStream *stream, FdStore *store, GError **error);

/* What a worker is to do next for it. Returns 0 or a negative errno. */
int relay_stream_prepare(RelayStream *stream, PipeMove *ret);
/* What the worker has done. */
void relay_stream_moved(RelayStream *stream, const PipeMove *move);
