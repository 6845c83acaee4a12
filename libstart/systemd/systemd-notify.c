/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/socket.h"
#include "libstart/systemd/systemd-notify.h"

#define NOTIFY_MARK "X_KEYTURN_MARK=1"

struct Notify {
        int fd;
        SocketAddress address;
};

Notify *notify_open(GError **error) {
        const char *path = getenv("NOTIFY_SOCKET");
        Notify *notify = path ? notify_open_path(path, error) : NULL;

        if (path && !notify)
                g_prefix_error(error, "$NOTIFY_SOCKET: ");
        return notify;
}

Notify *notify_open_path(const char *path, GError **error) {
        g_autoptr(Notify) notify = g_new0(Notify, 1);

        notify->fd = -1;
        if (!socket_address_parse(path, &notify->address, error))
                return NULL;
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

bool notify_send_as(Notify *notify, const char *state, size_t size, pid_t sender, GError **error) {
        const struct ucred credentials = { .pid = sender, .uid = getuid(), .gid = getgid() };
        const SocketExtra extra = { SCM_CREDENTIALS, &credentials, sizeof credentials };
        ssize_t n = !notify ? 0 :
                              socket_send(notify->fd, &notify->address, state, size, sender > 0 ? &extra : NULL, 0);

        return n >= 0 || error_set_errno(error, (int) -n, "Cannot notify systemd");
}

bool notify_send(Notify *notify, const char *state, GError **error) {
        return notify_send_as(notify, state, strlen(state), 0, error);
}

bool notify_mark(Notify *notify, pid_t main_process, GError **error) {
        return notify_send_as(notify, NOTIFY_MARK, strlen(NOTIFY_MARK), main_process, error);
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
