/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Unix sockets. systemd's notification protocol (sd_notify(3)) and the journal's are spoken directly: our programs
 * are static, libsystemd is not. */

typedef struct SocketAddress {
        struct sockaddr_un name;
        socklen_t length;
} SocketAddress;

/* `text`: as in $NOTIFY_SOCKET, a path or "@NAME" of an abstract socket. */
bool socket_address_parse(const char *text, SocketAddress *ret, GError **error);

/* `type`: of socket(2). Returns a close-on-exec socket that is connected to `address`, or -1. */
int socket_connect(int type, const char *address, GError **error);

/* What travels beside the bytes of a message. */
typedef struct SocketExtra {
        int type; /* SCM_RIGHTS or SCM_CREDENTIALS */
        const void *data;
        size_t size; /* of at most SOCKET_FDS_MAX descriptors */
} SocketExtra;

#define SOCKET_FDS_MAX 8

/* `to`: NULL on a connected socket. `extra`: NULL for nothing. `flags`: of sendmsg(2). Returns how many bytes were
 * sent or a negative errno: -ESRCH where there is no process that is said to be the sender. */
ssize_t socket_send(int fd, const SocketAddress *to, const char *data, size_t size, const SocketExtra *extra,
                    int flags);

/* Look at the first message in the queue, which stays there. Never waits. Returns the length of the text or a
 * negative errno: -EMSGSIZE where there is more than fits. The descriptors, at most `fds_max`, are copies,
 * close-on-exec, and become the caller's. */
ssize_t socket_peek(int fd, char *text, size_t size, int *fds, size_t fds_max, size_t *ret_n_fds);
