/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The standard streams of a command that is run in a container: see streams.c for what they protect. */
typedef struct Streams Streams;

/* To be called before the command's process is forked: blocks the signals that it is to be sent. With a socket, the
 * command has a terminal of its own, which libcrun is to send there; without, pipes. */
Streams *streams_new(const char *console_socket, GError **error);
void streams_free(Streams *streams);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Streams, streams_free)

/* In the command's process: from here on it has nothing open but its streams, and no controlling terminal. */
bool streams_enter(Streams *streams, GError **error);

/* In the caller's: copy, and hand signals on, until the child has ended and all that it wrote before is delivered.
 * Returns its exit status, 128 + N if it was killed by signal N; -1 if something was lost. */
int streams_copy(Streams *streams, pid_t child, GError **error);
