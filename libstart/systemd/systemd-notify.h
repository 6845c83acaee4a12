/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* What libstart tells systemd; the protocol is in libstart/base/socket.h. */

typedef struct Notify Notify;

/* NULL without an error where nobody listens ($NOTIFY_SOCKET unset). */
Notify *notify_open(GError **error);

/* The same of a socket that is known. Not NULL but with an error. */
Notify *notify_open_path(const char *path, GError **error);
void notify_free(Notify *notify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notify, notify_free)

/* Send newline-separated assignments ("READY=1\nSTATUS=…"). A NULL `notify` is nobody listening: succeeds. */
bool notify_send(Notify *notify, const char *state, GError **error);

/* The same in the name of another process, unless `sender` is 0. */
bool notify_send_as(Notify *notify, const char *state, size_t size, pid_t sender, GError **error);

/* systemd handles one message after the other. So one that says nothing follows those that matter: once systemd has
 * taken it, all before it are handled. (BARRIER=1 of sd_notify(3) is made for this, but has systemd fork itself, only
 * to close a descriptor: 0.4 ms of the one thread that all other services wait for.) Its sender must be
 * the service's main process by then, or systemd warns of it; a user's takes it of all in the control group. */
bool notify_mark(Notify *notify, pid_t main_process, GError **error);

/* For a user's programs, which may speak in nobody else's name: on `socket`, which is connected to her systemd, as a
 * member of the control group of `payload`, by which NotifyAccess=all counts. This process stays in there, and so is
 * one that ends then. Returns when systemd has handled it, which may take as long as systemd likes. */
bool notify_send_beside(int socket, const char *state, size_t size, pid_t payload, GError **error);

/* Returns when systemd has handled all that it was sent before, by any socket; this one is connected to it. */
bool notify_await_barrier(int socket, GError **error);

/* Has systemd taken everything? After notify_watch(), epoll_wait(2) returns each time that it takes a message. */
bool notify_is_handled(const Notify *notify);
bool notify_watch(const Notify *notify, int epoll);
