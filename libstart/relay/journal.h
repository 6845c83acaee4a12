/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The journal's stream protocol: a connection to /run/systemd/journal/stdout begins with seven lines that
 * say whose lines follow, and the rest is the log. Stated by sd_journal_stream_fd(3) and systemd.exec(5);
 * the unit's name counts because we connect as root. */

/* Returns a non-blocking connection on which the header has been sent, or -1. `priority`: level and facility as in
 * syslog(3). A tag that is too long for the protocol is cut. Never waits: where journald cannot take the connection
 * at the moment it fails, and may succeed a little later. */
int journal_connect(const char *path, const char *tag, const char *unit, int priority, GError **error);

/* Send a part of the log, as coming from the process `sender`. At most JOURNAL_BATCH_MAX bytes are taken
 * either completely or not at all. Returns how many bytes were taken, or a negative errno: -EAGAIN when
 * the socket is full, -ESRCH when there is no such process any more. */
#define JOURNAL_BATCH_MAX ((size_t) 32 * 1024)
ssize_t journal_send(int stream, const char *data, size_t size, const struct ucred *sender);
