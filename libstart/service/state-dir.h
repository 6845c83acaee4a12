/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/request.h"

/* The container's directory on /run: what others may want to know of it, and, closed to everybody but root, mount
 * points. Nothing in it is the payload's, which writes elsewhere (writable-layer.c): to remove it takes nobody long.
 * systemd makes and removes that of a service (RuntimeDirectory=), and names it to libstart. Who calls libstart by
 * hand names none and has no systemd: then it is libstart's own. */
typedef struct StateDir {
        char *path;
        char *private_path; /* begins with a dot: libcrun takes any other entry for a container */
        int lock;           /* of who starts the container, or waits for it */
        bool own;
} StateDir;

/* The one that the request names, or /run/keyturn/NAME. Takes the lock of the path. Fails if another caller has it,
 * or a container runs in the directory. Remains of an earlier container are no obstacle (stale-state.h). */
bool state_dir_make(const ContainerRequest *request, StateDir *ret, GError **error);

/* Remove it with all that is in it, if it is our own. To be called when no process of the container is left. */
void state_dir_discard(StateDir *state_dir);

void state_dir_clear(StateDir *state_dir);
