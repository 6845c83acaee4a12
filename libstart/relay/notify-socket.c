/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/relay/notify-socket.h"

bool notify_address_parse(const char *text, NotifyAddress *ret, GError **error) {
        size_t length = strlen(text);

        if ((text[0] != '/' && text[0] != '@') || length >= sizeof ret->name.sun_path)
                return error_set(error, KT_ERROR_FAILED, "$NOTIFY_SOCKET is '%s', which is no socket", text);
        *ret = (NotifyAddress) {
                .name.sun_family = AF_UNIX,
                .length = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length),
        };
        memcpy(ret->name.sun_path, text, length);
        if (text[0] == '@') /* abstract */
                ret->name.sun_path[0] = '\0';
        return true;
}

int notify_socket_connect(const char *address, GError **error) {
        _cleanup_close_ int fd = -1;
        NotifyAddress to = { 0 };

        if (!notify_address_parse(address, &to, error))
                return -1;
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *) &to.name, to.length) < 0) {
                error_set_errno(error, errno, "Cannot reach systemd at '%s'", address);
                return -1;
        }
        return fd_steal(&fd);
}

int notify_socket_send(int fd, const NotifyAddress *to, const char *state, size_t size, const struct ucred *sender,
                       int flags) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control = { 0 };
        struct iovec data = { (char *) state, size };
        struct msghdr message = {
                .msg_name = to ? (void *) &to->name : NULL,
                .msg_namelen = to ? to->length : 0,
                .msg_iov = &data,
                .msg_iovlen = 1,
        };

        if (sender) {
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_CREDENTIALS;
                control.header.cmsg_len = CMSG_LEN(sizeof *sender);
                memcpy(CMSG_DATA(&control.header), sender, sizeof *sender);
                message.msg_control = &control;
                message.msg_controllen = sizeof control;
        }
        while (sendmsg(fd, &message, flags | MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}
