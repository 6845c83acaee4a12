/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/relay-client/record.h"
#include "libstart/relay/fd-store.h"

/* One container's notification socket, as the relay sees it. */
typedef struct NotifySource {
        char *name;        /* in the store: says that it is one of these, the payload's pid, and the socket's inode */
        char *unit;        /* or NULL, where an earlier incarnation knew it */
        pid_t payload;     /* the service's main process */
        int pidfd;         /* of that */
        int socket;        /* the payload writes into it */
        bool ended;        /* the main process has; nobody can write any more */
        bool ready;        /* its readiness was passed on, or an earlier incarnation knows */
        bool had_status;   /* what systemd shows is the payload's own, or nothing; as above */
        pid_t taker;       /* 0, or a child that takes the first message: */
        int taker_fd;      /* its pidfd, -1 where it cannot be waited for */
        gint64 paid_until; /* monotonic: by then what it has said will be paid for */
        bool queued;       /* in one of the loop's queues */
        bool complained;   /* said already what it may not say */
} NotifySource;

/* From a registration: fds are the socket and the pidfd, taken over, also on errors. */
NotifySource *notify_source_new(const NotifyRecord *record, int *fds, gsize n_fds, GError **error);

/* From what the store kept under `name`; takes over `fds`, also on errors. */
bool notify_source_is_name(const char *name);
NotifySource *notify_source_restore(const char *name, const int *fds, gsize n_fds, GError **error);

/* Closes all, but leaves it in the store. */
void notify_source_free(NotifySource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NotifySource, notify_source_free)

bool notify_source_store(const NotifySource *source, FdStore *store, GError **error);

typedef enum NotifyResult {
        NOTIFY_IDLE,    /* nothing is there */
        NOTIFY_MORE,    /* something was passed on or dropped, and there may be more */
        NOTIFY_BLOCKED, /* systemd has to read first */
        NOTIFY_TAKING,  /* a child takes the message: wait for taker_fd */
        NOTIFY_PAUSED,  /* it has said enough for the moment */
        NOTIFY_FAILED,  /* see errno; nothing was taken */
} NotifyResult;

/* Pass on one message to systemd, to which the socket `to` is connected. */
NotifyResult notify_source_move(NotifySource *source, int to);

/* Is the child done? Then there may be more. */
bool notify_source_is_taken(NotifySource *source);

/* Has the main process ended? Then what is there now is all there will be. */
bool notify_source_has_ended(NotifySource *source);
