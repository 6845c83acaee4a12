/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/run/notify.h"

struct Notify {
        int fd;
        struct sockaddr_un address;
        socklen_t address_length;
};

Notify *notify_open(GError **error) {
        const char *path = getenv("NOTIFY_SOCKET");
        g_autoptr(Notify) notify = NULL;
        size_t length;

        if (!path)
                return NULL;
        notify = g_new0(Notify, 1);
        notify->fd = -1;
        length = strlen(path);
        if ((path[0] != '/' && path[0] != '@') || length >= sizeof notify->address.sun_path) {
                error_set(error, KT_ERROR_FAILED, "$NOTIFY_SOCKET is '%s', which is no socket", path);
                return NULL;
        }
        notify->address.sun_family = AF_UNIX;
        memcpy(notify->address.sun_path, path, length);
        if (path[0] == '@') /* abstract */
                notify->address.sun_path[0] = '\0';
        notify->address_length = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length);

        notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (notify->fd < 0) {
                error_set_errno(error, errno, "Cannot make a socket to notify systemd");
                return NULL;
        }
        return g_steal_pointer(&notify);
}

void notify_free(Notify *notify) {
        if (!notify)
                return;
        if (notify->fd >= 0)
                close(notify->fd);
        g_free(notify);
}

static bool send_state(Notify *notify, const char *state, int attached_fd, GError **error) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct iovec iov = { (char *) state, strlen(state) };
        struct msghdr message = {
                .msg_name = &notify->address,
                .msg_namelen = notify->address_length,
                .msg_iov = &iov,
                .msg_iovlen = 1,
        };

        if (attached_fd >= 0) {
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_RIGHTS;
                control.header.cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(&control.header), &attached_fd, sizeof(int));
                message.msg_control = &control;
                message.msg_controllen = sizeof control;
        }
        if (sendmsg(notify->fd, &message, MSG_NOSIGNAL) < 0)
                return error_set_errno(error, errno, "Cannot notify systemd");
        return true;
}

bool notify_send(Notify *notify, const char *state, GError **error) {
        return !notify || send_state(notify, state, -1, error);
}

int notify_barrier(Notify *notify, GError **error) {
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2];

        if (!notify)
                return -1;
        if (pipe2(pair, O_CLOEXEC) < 0) {
                error_set_errno(error, errno, "Cannot make a pipe");
                return -1;
        }
        ours = pair[0];
        theirs = pair[1];
        return send_state(notify, "BARRIER=1", theirs, error) ? fd_steal(&ours) : -1;
}
