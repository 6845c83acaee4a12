/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "libstart/relay-client/record.h"

/* libstart's side of the relay (keyturn-relay.service(8)): why and when there are pipes, see RelayOutput. */
typedef struct RelayPipes {
        int write[2];  /* the payload's; -1 where it gets libstart's own descriptor as it is */
        int read[2];   /* the relay's */
        int socket;    /* connected to the relay; -1 when no pipe was needed */
        char *journal; /* the journal's socket, for streams that the relay opens itself */
} RelayPipes;

#define RELAY_PIPES_NULL { { -1, -1 }, { -1, -1 }, -1, NULL }

void relay_pipes_clear(RelayPipes *pipes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RelayPipes, relay_pipes_clear)

/* Returns a connection to the relay, or -1. */
int relay_connect(const char *path, GError **error);

/* Send a registration with at most RELAY_ROLES descriptors. Waits, at most some seconds, only where hundreds are
 * queued that the relay has not read. */
bool relay_send(int socket, const char *text, const int *fds, size_t n_fds, GError **error);

/* What a descriptor for output is, and what follows for the payload. */
typedef enum RelayOutput {
        /* A socket (of an inetd-style service), /dev/null, a pipe without a name: the payload's as it is. What it
         * does to it nobody else sees. */
        RELAY_OUTPUT_OWN,
        /* A connection to the journal. Such a socket cannot be opened again through /dev/stdout (open(2), ENXIO),
         * which is what images like nginx's do, so the payload gets a pipe instead. */
        RELAY_OUTPUT_JOURNAL,
        /* A file, a terminal or another device, a FIFO: something of the host's file system, that a payload which is
         * root may give another mode and owner, and open again for more than it was opened for. It must not have it.
         * Nor what cannot be seen. */
        RELAY_OUTPUT_FILE,
} RelayOutput;

RelayOutput relay_output(int fd);

/* A pipe for each of `files` that is not -1, as payloads get them: every user may open it again, so that a payload
 * that changes its user can still open /dev/stdout; nobody reaches it but through /proc/PID/fd of the payload. Both
 * ends are close-on-exec. is_shared: where both are the same file it is one pipe, so that their lines are in the
 * order in which they were written. What was opened before a failure is the caller's. */
bool relay_pipes_make(const int files[2], bool is_shared, int reads[2], int writes[2], GError **error);

/* Before the container starts: pipes for those of `out` and `err` (libstart's 1 and 2) that the relay is to serve, -1
 * for one that it is not, and a connection to the relay. Nothing waits for the relay to run: systemd holds its
 * socket. On failure nothing has been opened, and the caller decides what the payload gets. */
bool relay_pipes_open(const char *socket_path, int out, int err, RelayPipes *ret, GError **error);

/* Once the payload's pid is known: hand the read ends and what `out` and `err` are to the relay. `payload`: all
 * but what follows from those. One that has exited by now is fine. Closes the read ends; they are the relay's.
 *
 * Waits, at most some seconds, only where hundreds of registrations are queued that the relay has not
 * read. After a failure the payload's pipes have no reader, so it must not go on running. */
bool relay_register(RelayPipes *pipes, int out, int err, const RelayRecord *payload, GError **error);
