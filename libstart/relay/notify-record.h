/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* What libstart tells the relay with the socket that a payload notifies: lines of KEY=VALUE, unknown keys ignored. It
 * comes with two descriptors, the socket and a pidfd of the service's main process. */
typedef struct NotifyRecord {
        char *address; /* systemd's socket, as libstart was told ($NOTIFY_SOCKET) */
        pid_t payload; /* the main process: messages are passed on in its name */
        char *unit;    /* "backup-camera.service", for what the relay has to complain of */
} NotifyRecord;

#define NOTIFY_RECORD_FDS 2

void notify_record_clear(NotifyRecord *record);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NotifyRecord, notify_record_clear)

/* Transfer full. NULL where a value does not fit on a line. */
char *notify_record_format(const NotifyRecord *record, GError **error);

/* Is this registration one of these? */
bool notify_record_is(const char *text);
bool notify_record_parse(const char *text, NotifyRecord *ret, GError **error);
