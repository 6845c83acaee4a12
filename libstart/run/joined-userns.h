/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/runtime/runtime-peer.h"

/* A user's container that has the network of another one enters that one's user namespace, too, as containers of a
 * pod have one: the network belongs to it, and with it /sys, ports below 1024 and what NET_ADMIN is for. */
typedef struct JoinedUserns {
        char *path; /* NULL: there is none */
        int fd;     /* what keeps it, where the path leads; or -1 */
} JoinedUserns;

/* other: which runs as `unit`. It has the user's ids, or it is an error. One from before the view of now is out of
 * reach: it is restarted, and this container with it. */
bool joined_userns_find(const RunningContainer *other, const char *unit, JoinedUserns *ret, GError **error);

void joined_userns_clear(JoinedUserns *joined);
