/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* systemd's notification protocol (sd_notify(3)), spoken directly: libstart is static, libsystemd is not. */

typedef struct Notify Notify;

/* NULL without an error where nobody listens ($NOTIFY_SOCKET unset). */
Notify *notify_open(GError **error);
void notify_free(Notify *notify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notify, notify_free)

/* Send newline-separated assignments ("READY=1\nSTATUS=…"). A NULL `notify` is nobody listening: succeeds. */
bool notify_send(Notify *notify, const char *state, GError **error);

/* Returns a descriptor that hangs up (POLLHUP) once systemd has handled all that was sent before, or -1. */
int notify_barrier(Notify *notify, GError **error);
