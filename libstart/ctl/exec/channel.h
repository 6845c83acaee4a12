/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <poll.h>
#include <stdbool.h>

/* Bytes on their way from one descriptor to another. The caller polls, so that no two wait for each other. */
typedef struct Channel {
        int from, to;  /* -1: closed, or not there yet */
        gsize limit;   /* so many bytes are still read */
        gsize portion; /* so many are written at once */
        gsize begin, end;
        int errnum; /* why reading has ended, where it was not the end */
        char data[64 * 1024];
} Channel;

/* A description of our own of what `fd` is, which does not block; where there is none to have, the same description.
 * Others share the descriptors that we were started with, and want them blocking. mode: O_RDONLY or O_WRONLY. -1:
 * `fd` is not open. */
int channel_reopen(int fd, int mode);

/* Takes ownership of both descriptors. What is in `from` is read without waiting, so it must not block. */
void channel_init(Channel *channel, int from, int to);
void channel_close(Channel *channel);

/* Two descriptors to poll; -1: not waited for. */
void channel_ask(const Channel *channel, struct pollfd ask[2]);

/* Go on as far as the answer allows. Where nothing more can be written, both ends are closed, so that the writer to
 * `from` learns it. That nobody reads is no error; any other reason is. */
bool channel_step(Channel *channel, const struct pollfd ask[2], GError **error);

/* What could not be read is missing from what the command has said. */
bool channel_check(const Channel *channel, GError **error);

/* Read without waiting, unless there are bytes to be written; false: none is there. */
bool channel_fill(Channel *channel);
