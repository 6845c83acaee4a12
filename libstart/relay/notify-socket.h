/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* systemd's notification protocol (sd_notify(3)), spoken directly: our programs are static, libsystemd is not. */

typedef struct NotifyAddress {
        struct sockaddr_un name;
        socklen_t length;
} NotifyAddress;

/* `text`: as in $NOTIFY_SOCKET, a path or "@NAME" of an abstract socket. */
bool notify_address_parse(const char *text, NotifyAddress *ret, GError **error);

/* Returns a socket that is connected to systemd's, or -1. */
int notify_socket_connect(const char *address, GError **error);

/* Send newline-separated assignments ("READY=1\nSTATUS=…"). `to`: NULL on a connected socket. `sender`: in whose name,
 * NULL for our own. `flags`: of sendmsg(2). Returns 0 or a negative errno: -ESRCH where there is no such process. */
int notify_socket_send(int fd, const NotifyAddress *to, const char *state, size_t size, const struct ucred *sender,
                       int flags);
