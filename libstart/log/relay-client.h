/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* libstart's side of the relay (keyturn-relay.service(8)): why and when there are pipes, see
 * relay_needed(). */
typedef struct RelayPipes {
        int stdout_write,
                stderr_write; /* the payload's; -1 where it gets libstart's own descriptor as it is */
        int stdout_read, stderr_read; /* the relay's */
        int socket;                   /* connected to the relay; -1 when no pipe was needed */
        char *journal;                /* the journal's socket, for streams that the relay opens itself */
} RelayPipes;

#define RELAY_PIPES_NULL \
 { -1, -1, -1, -1, -1, NULL }

void relay_pipes_clear(RelayPipes *pipes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RelayPipes, relay_pipes_clear)

/* Is this descriptor a connection to the journal? Such a socket cannot be opened again through
 * /dev/stdout (open(2), ENXIO), which is what images like nginx's do, so the payload gets a pipe instead.
 * Anything else (a file, a terminal, the socket of an inetd-style service) is the payload's as it is. */
bool relay_needed(int fd);

/* Before the container starts: pipes for those of `out` and `err` (libstart's 1 and 2) that need one, and a
 * connection to the relay. Nothing waits for the relay to run: systemd holds its socket. On failure nothing
 * has been opened, and the caller hands `out` and `err` to the payload, with a warning.
 *
 * Every end is close-on-exec, and every user may open them again, so that a payload that changes its user
 * can still open /dev/stdout; nobody reaches them but through /proc/PID/fd of the payload. */
bool relay_pipes_open(const char *socket_path, int out, int err, RelayPipes *ret, GError **error);

typedef struct RelayPayload {
        pid_t pid;         /* as seen from here */
        const char *unit;  /* "backup-camera.service" */
        const char *tag;   /* SYSLOG_IDENTIFIER= of stderr's lines (those of stdout are as systemd said) */
        bool level_prefix; /* SyslogLevelPrefix= of the unit, if the caller knows it; else true */
} RelayPayload;

/* Once the payload's pid is known: hand the read ends and the journal's connections to the relay. A payload
 * that has exited by now is fine. Closes the read ends; they are the relay's.
 *
 * Waits, at most some seconds, only where hundreds of registrations are queued that the relay has not
 * read. After a failure the payload's pipes have no reader, so it must not go on running. */
bool relay_register(RelayPipes *pipes, int out, int err, const RelayPayload *payload, GError **error);
