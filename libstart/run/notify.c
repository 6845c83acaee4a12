/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
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

/* In the name of `sender` unless that is 0. */
static bool send_state(Notify *notify, const char *state, pid_t sender, GError **error) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control = { 0 };
        struct ucred credentials = { .pid = sender, .uid = getuid(), .gid = getgid() };
        struct iovec iov = { (char *) state, strlen(state) };
        struct msghdr message = {
                .msg_name = &notify->address,
                .msg_namelen = notify->address_length,
                .msg_iov = &iov,
                .msg_iovlen = 1,
        };

        if (sender > 0) {
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_CREDENTIALS;
                control.header.cmsg_len = CMSG_LEN(sizeof credentials);
                memcpy(CMSG_DATA(&control.header), &credentials, sizeof credentials);
                message.msg_control = &control;
                message.msg_controllen = sizeof control;
        }
        if (sendmsg(notify->fd, &message, MSG_NOSIGNAL) < 0)
                return error_set_errno(error, errno, "Cannot notify systemd");
        return true;
}

bool notify_send(Notify *notify, const char *state, GError **error) {
        return !notify || send_state(notify, state, 0, error);
}

bool notify_mark(Notify *notify, pid_t main_process, GError **error) {
        return !notify || send_state(notify, "X_KEYTURN_MARK=1", main_process, error);
}

bool notify_is_handled(const Notify *notify) {
        int bytes = 0;

        return !notify || ioctl(notify->fd, SIOCOUTQ, &bytes) < 0 || bytes == 0;
}

/* Edge-triggered: the socket always has room, but each message that is taken makes some. */
bool notify_watch(const Notify *notify, int epoll) {
        struct epoll_event event = { .events = EPOLLOUT | EPOLLET };

        return !notify || epoll_ctl(epoll, EPOLL_CTL_ADD, notify->fd, &event) == 0;
}
