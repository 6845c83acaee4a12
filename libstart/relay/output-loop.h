/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "libstart/relay/fd-store.h"

/* The relay's part for output: payloads' pipes on one side, the journal and files on the other. It lives in the
 * relay's loop, whose `epoll` it uses.
 *
 * Pipes are only watched here: poll(2) does not take a pipe's lock, all else does, and is done by workers
 * (pipe-workers.h). */
typedef struct OutputLoop OutputLoop;

/* `epoll` and `store` must outlive it. Its events have some data; neither 0 nor ABOUT_NOTIFY. */
OutputLoop *output_loop_new(int epoll, FdStore *store, GError **error);
void output_loop_free(OutputLoop *loop);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutputLoop, output_loop_free)

/* A registration, not yet taken from the relay's queue. Of `fds` it leaves -1 where it takes one over. */
bool output_loop_register(OutputLoop *loop, const char *text, int *fds, gsize n_fds, GError **error);
/* What the store has kept under `name`; takes over `fds`, also on errors. */
bool output_loop_restore(OutputLoop *loop, const char *name, const int *fds, gsize n_fds, GError **error);

/* Is this name in the store still needed? */
bool output_loop_serves(const OutputLoop *loop, const char *name);
guint output_loop_n_sources(const OutputLoop *loop);

/* Close what nobody else may have, at most PIPE_JOB_FDS_MAX; it was stored under `name`, or NULL. */
void output_loop_close(OutputLoop *loop, const char *name, const int *fds, gsize n_fds);

/* Give the workers what is to be done. What they cannot take now they are given after an event; or, where none can be
 * started, later. */
void output_loop_move(OutputLoop *loop);
void output_loop_event(OutputLoop *loop, const struct epoll_event *event);
/* After the events. Returns true if sources have ended, and the store can be swept; then they can be forgotten. */
bool output_loop_step(OutputLoop *loop);
void output_loop_forget(OutputLoop *loop);
/* False with an error where nothing is moved any more, and another relay is to try it. */
bool output_loop_can_go_on(const OutputLoop *loop, GError **error);
/* Is there something for output_loop_move()? */
bool output_loop_has_work(const OutputLoop *loop);
/* How long to wait for events, at most `timeout` milliseconds (-1: for ever). */
int output_loop_wait_time(const OutputLoop *loop, int timeout);
