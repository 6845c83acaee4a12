/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The journal reads "<0>" in front of a line as its level: an emergency, which it writes to the terminals of all who
 * are logged in (journald.conf(5), MaxLevelWall=). That is not for a payload to say: its emergencies are alerts,
 * "<1>".
 *
 * The threat: whoever writes the bytes chooses where our batches begin and end, and journald begins a line not only
 * after a newline: also after a NUL, at another sender, after its own restart, and within a line that is longer than
 * its LineMax=. All but the last happen only where a batch begins. */
typedef struct LevelPrefix {
        gsize column; /* bytes since the last newline or NUL */
        guint begun;  /* how many bytes of what may become a prefix went out last */
} LevelPrefix;

/* A stream of which nothing is known: the last that was sent of it may have been the begin of a prefix. */
#define LEVEL_PREFIX_UNKNOWN ((LevelPrefix) { .begun = 1 })

/* Lower each emergency in what is to be sent next. */
void level_prefix_lower(const LevelPrefix *prefix, char *data, gsize size);

/* So much of it was sent. */
void level_prefix_sent(LevelPrefix *prefix, const char *data, gsize size);
