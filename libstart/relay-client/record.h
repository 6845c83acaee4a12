/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* What libstart tells the relay of one container: lines of KEY=VALUE, unknown ones ignored, so that a relay and a
 * libstart of different versions understand each other while an update is going on. */

/* Its output. The same text lies in the memory file that systemd keeps for the relay. */

/* Roles of the descriptors that belong to a container, in the order in which they are sent. */
typedef enum RelayRole {
        RELAY_STDOUT_PIPE, /* read ends */
        RELAY_STDERR_PIPE,
        RELAY_STDOUT_STREAM, /* where they go: connections to the journal, or files */
        RELAY_STDERR_STREAM,
        RELAY_ROLES,
} RelayRole;

typedef struct RelayRecord {
        char *unit;    /* whose lines these are, "backup-camera.service" */
        char *tag;     /* SYSLOG_IDENTIFIER= of streams that the relay opens itself */
        char *journal; /* the journal's socket, for such streams */
        pid_t payload; /* its main process */
        uid_t uid;     /* its user, which its lines are said to be from */
        gid_t gid;
        guint roles;                 /* in a registration: 1 << RelayRole for each descriptor that comes with it */
        guint64 inodes[RELAY_ROLES]; /* in the memory file: which descriptor has which role; 0 for none */
} RelayRecord;

void relay_record_clear(RelayRecord *record);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RelayRecord, relay_record_clear)

/* Fails when a name does not fit on a line. The length of the text does not depend on the inode numbers,
 * so that they can be brought up to date in place with one write. Transfer full. */
char *relay_record_format(const RelayRecord *record, GError **error);
bool relay_record_parse(const char *text, RelayRecord *ret, GError **error);

/* The socket that a payload notifies. It comes with two descriptors, the socket and a pidfd of the service's main
 * process. */
typedef struct NotifyRecord {
        char *address; /* systemd's socket, as libstart was told ($NOTIFY_SOCKET) */
        pid_t payload; /* the main process: messages are passed on in its name */
        char *unit;    /* "backup-camera.service", for what the relay has to complain of */
} NotifyRecord;

#define NOTIFY_RECORD_FDS 2

void notify_record_clear(NotifyRecord *record);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NotifyRecord, notify_record_clear)

/* Is this registration one of these? */
bool notify_record_is(const char *text);

/* As above. */
char *notify_record_format(const NotifyRecord *record, GError **error);
bool notify_record_parse(const char *text, NotifyRecord *ret, GError **error);
