/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "libstart/relay/fd-store.h"

/* The relay's part for notifications: payloads' sockets on one side, systemd's on the other. It lives in the relay's
 * loop, whose `epoll` it uses. */
typedef struct NotifyLoop NotifyLoop;

/* Our events have this bit in their data, beside a pointer; those of others do not. */
#define ABOUT_NOTIFY ((uintptr_t) 4)

/* `address`: $NOTIFY_SOCKET; NULL for a relay that systemd does not run, which refuses all registrations. `epoll` and
 * `store` must outlive it. */
NotifyLoop *notify_loop_new(int epoll, FdStore *store, const char *address);
void notify_loop_free(NotifyLoop *loop);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NotifyLoop, notify_loop_free)

/* A registration (notify_record_is()), not yet taken from the relay's queue. Of `fds` it leaves -1 where it takes
 * one over. */
bool notify_loop_register(NotifyLoop *loop, const char *text, int *fds, gsize n_fds, GError **error);
/* What the store has kept under a name of ours (notify_source_is_name()). Takes over `fds`. */
bool notify_loop_restore(NotifyLoop *loop, const char *name, const int *fds, gsize n_fds, GError **error);

/* Is this name in the store still needed? */
bool notify_loop_serves(const NotifyLoop *loop, const char *name);
guint notify_loop_n_sources(const NotifyLoop *loop);

/* An event with ABOUT_NOTIFY in its data. */
void notify_loop_event(NotifyLoop *loop, const struct epoll_event *event);
/* Pass on at most one message of each source. Returns true if some have ended, and the store can be swept. */
bool notify_loop_step(NotifyLoop *loop);
/* Is a payload's readiness awaited? Then every moment counts: systemd must hear of it before it sees the payload end.
 */
bool notify_loop_is_urgent(const NotifyLoop *loop);
/* How long to wait for events, at most `timeout` milliseconds (-1: for ever). */
int notify_loop_wait_time(const NotifyLoop *loop, int timeout);
