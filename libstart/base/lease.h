/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Files that somebody else can open, be it only for reading: a payload, of a volume that it shares.
 *
 * The threat: it may have a lease of the file (fcntl(2), F_SETLEASE), for which it must own the file; root in a
 * container owns the machine's. Then open(2) waits until it gives the lease back, or 45 s: each file, each start.
 * With O_NONBLOCK it does not wait, and the holder is told all the same. Honest ones (file servers) give it back
 * within milliseconds. */

/* Open a file for reading, without waiting for whatever it is; for a lease up to a second. -1 with errno, EWOULDBLOCK
 * where the lease is still there. */
int lease_open(const char *path);

/* Set *error to why lease_open() failed, by its errno, and return false. name: the file, as the reader knows it. */
bool lease_set_error(GError **error, int errnum, const char *name);
