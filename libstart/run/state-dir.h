/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The container's directory on /run: its writable layer, and what others may want to know of it. systemd makes and
 * removes that of a service (RuntimeDirectory=). Who calls libstart by hand has no systemd to do so: what libstart
 * made then, it removes. */
typedef struct StateDir {
        char *path;
        bool own; /* made here */
} StateDir;

/* `path` as the caller wants it, or NULL for /run/keyturn/NAME. */
bool state_dir_make(const char *path, const char *name, StateDir *ret, GError **error);

/* Remove it with all that is in it, if it is our own. To be called when no process of the container is left. */
void state_dir_discard(StateDir *state_dir);

void state_dir_clear(StateDir *state_dir);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StateDir, state_dir_clear)
