/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"

/* Room for what travels with a message. */
typedef union Control {
        struct cmsghdr header;
        char space[CMSG_SPACE(SOCKET_FDS_MAX * sizeof(int))];
} Control;

bool socket_address_parse(const char *text, SocketAddress *ret, GError **error) {
        size_t length = strlen(text);

        if ((text[0] != '/' && text[0] != '@') || length >= sizeof ret->name.sun_path)
                return error_set(error, KT_ERROR_FAILED, "'%s' is not the name of a socket", text);
        *ret = (SocketAddress) {
                .name.sun_family = AF_UNIX,
                .length = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length),
        };
        memcpy(ret->name.sun_path, text, length);
        if (text[0] == '@') /* abstract */
                ret->name.sun_path[0] = '\0';
        return true;
}

int socket_connect(int type, const char *address, GError **error) {
        _cleanup_close_ int fd = -1;
        SocketAddress to = { 0 };

        if (!socket_address_parse(address, &to, error))
                return -1;
        fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *) &to.name, to.length) < 0)
                return error_negative_errno(error, errno, "Cannot connect to '%s'", address);
        return fd_steal(&fd);
}

ssize_t socket_send(int fd, const SocketAddress *to, const char *data, size_t size, const SocketExtra *extra,
                    int flags) {
        Control control = { 0 };
        struct iovec bytes = { (char *) data, size };
        struct msghdr message = {
                .msg_name = to ? (void *) &to->name : NULL,
                .msg_namelen = to ? to->length : 0,
                .msg_iov = &bytes,
                .msg_iovlen = 1,
        };
        ssize_t n;

        if (extra) {
                g_assert(CMSG_SPACE(extra->size) <= sizeof control);
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = extra->type;
                control.header.cmsg_len = CMSG_LEN(extra->size);
                memcpy(CMSG_DATA(&control.header), extra->data, extra->size);
                message.msg_control = &control;
                message.msg_controllen = CMSG_SPACE(extra->size);
        }
        do
                n = sendmsg(fd, &message, flags | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

ssize_t socket_peek(int fd, char *text, size_t size, int *fds, size_t fds_max, size_t *ret_n_fds) {
        Control control;
        struct iovec bytes = { text, size };
        struct msghdr message = {
                .msg_iov = &bytes,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = CMSG_LEN(MIN(fds_max, SOCKET_FDS_MAX) * sizeof(int)),
        };
        ssize_t n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        *ret_n_fds = 0;
        if (n < 0)
                return -errno;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
                        *ret_n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                        memcpy(fds, CMSG_DATA(c), *ret_n_fds * sizeof(int));
                }
        if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
                return n;
        fds_close(fds, *ret_n_fds);
        *ret_n_fds = 0;
        return -EMSGSIZE;
}
