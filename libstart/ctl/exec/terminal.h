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

/* Every key goes to the command as it is, also those that make signals. */
bool terminal_make_raw(Terminal *terminal, int fd, GError **error);
void terminal_restore(Terminal *terminal);

/* The command is told, if it has changed. */
void terminal_copy_size(int from, int to);

/* Where libcrun is to send the terminal that it makes in a container: a socket at `path`, which is made. */
int terminal_listen(const char *path, GError **error);

/* Take the connection and the terminal; it does not block reading and writing. */
int terminal_receive(int listener, GError **error);
