/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* How long the programs that bring images are waited for: a registry can take a connection and say nothing, or a byte
 * each second, for ever, and these programs have no deadlines of their own. In seconds, and settable in the
 * environment. */

/* For what a registry has under a name. KEYTURN_ASK_SEC. */
guint deadline_ask(void);

/* A program that copies must get on: 64 KiB are to be read and written within 2 minutes (KEYTURN_STALL_SEC). Counted
 * is what it asks of the kernel, from the network, its temporary files or the store alike: the same while it pulls,
 * unpacks and commits. Its output says nothing during a layer, and the store's size takes long to find out. Whatever
 * it does, it is over after 4 hours (KEYTURN_COPY_SEC), as a trickle of a layer without end gets on, too. */
typedef struct Deadline {
        GPid pid;
        guint stall, total;  /* seconds */
        gint64 begin, moved; /* monotonic time, in us: when it began, and when it last had got on */
        guint64 bytes;       /* by then */
} Deadline;

/* Of the program that runs as `pid`, from now on. It stays a child of the caller's, not reaped while it is asked. */
void deadline_begin(Deadline *deadline, GPid pid);

/* Why it is over, or NULL. To be asked once a second or so. Transfer full. */
char *deadline_check(Deadline *deadline);
