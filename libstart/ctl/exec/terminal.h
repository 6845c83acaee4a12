/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <termios.h>

/* The caller's terminal while a command uses one of its own. */
typedef struct Terminal {
        int fd; /* borrowed; -1: nothing to restore */
        struct termios settings;
} Terminal;

#define TERMINAL_NULL { .fd = -1 }

/* Every key goes to the command as it is, also those that make signals. On an error there is nothing to restore. */
bool terminal_make_raw(Terminal *terminal, int fd, GError **error);

/* As it was before; where there is nothing to restore nothing happens. */
void terminal_restore(Terminal *terminal);

/* The command is told, if it has changed. */
void terminal_copy_size(int from, int to);

/* Where libcrun is to send the terminal that it makes in a container: a socket at `path`, which is made, and replaces
 * what is there. Descriptor and path are the caller's to close and remove; -1 on errors. */
int terminal_listen(const char *path, GError **error);

/* Take the connection and the terminal, which is the caller's; it does not block reading and writing. Waits for who
 * connects. -1 on errors. */
int terminal_receive(int listener, GError **error);
