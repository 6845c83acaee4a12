/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>

/* What the caller has for the command's standard input. The command gets a pipe, but what it does not read is not to
 * be missing where it came from, as if it had the caller's own descriptor:
 *
 *     while read -r name; do keyturnctl exec box echo "$name"; done <names
 *
 * So the caller's file is set back by what is left in the pipe. Of the caller's pipe a page is shown to the command,
 * with tee(2), and taken out of it as far as the command has taken it. Of a terminal or a socket, what is read is
 * gone; of these, too, a page at a time. */
typedef struct Input {
        int from, to; /* -1: closed */
        enum { INPUT_FILE, INPUT_PIPE, INPUT_OTHER } kind;
        bool room;   /* the command has taken all; the next can be shown (not of a file) */
        bool end;    /* of a file: all is shown; `to` is the other end of the pipe now */
        bool away;   /* the terminal is not ours to read just now */
        gsize shown; /* bytes that it may not have taken */
        gsize kept;  /* bytes that were read, and for which there was no room (of neither a file nor a pipe) */
        int errnum;  /* why it has ended, where that was not the end, or could not be given back */
        char data[PIPE_BUF];
} Input;

#define INPUT_NULL { .from = -1, .to = -1 }

/* How long to wait before the terminal is asked again. */
#define INPUT_AWAY_MS 200

/* Takes ownership of both. from: of channel_reopen(). to: a pipe, empty, whose other end is the command's. */
bool input_init(Input *input, int from, int to, GError **error);

/* As channel_ask() and channel_step(). */
void input_ask(const Input *input, struct pollfd ask[2]);
void input_step(Input *input, const struct pollfd ask[2]);

/* The command has ended, or reads no more: give back what it did not take. */
void input_close(Input *input);

/* What could not be read is missing from what the command was given. */
bool input_check(const Input *input, GError **error);
