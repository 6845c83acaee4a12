/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
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
        Notify notify;

        if (!socket_address_parse(path, &notify.address, error))
                return NULL;
        notify.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (notify.fd >= 0)
                return g_memdup2(&notify, sizeof notify);
        return error_null_errno(error, errno, "Cannot make a socket to notify systemd");
}

void notify_free(Notify *notify) {
        if (notify)
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
        return notify_send_as(notify, NOTIFY_MARK, strlen(NOTIFY_MARK), user_view_is_entered() ? 0 : main_process,
                              error);
}

static bool join_group(pid_t payload, GError **error) {
        g_autofree char *cgroup = process_find_cgroup(payload), *path = NULL;
        _cleanup_close_ int procs = -1;

        if (!cgroup)
                return error_set(error, KT_ERROR_FAILED, "The process %d has no control group", (int) payload);
        path = g_strdup_printf("/sys/fs/cgroup%s/cgroup.procs", cgroup);
        procs = open(path, O_WRONLY | O_CLOEXEC);
        return (procs >= 0 && write(procs, "0", 1) == 1) || error_set_errno(error, errno, "Cannot write '%s'", path);
}

/* systemd closes what it gets with this when all before it is handled. It looks at nobody's control group for it, as
 * it would for notify_mark(). */
bool notify_await_barrier(int socket, GError **error) {
        struct pollfd closed = { .events = 0 };
        int ends[2];
        const SocketExtra extra = { SCM_RIGHTS, &ends[1], sizeof ends[1] };
        ssize_t n;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        n = socket_send(socket, NULL, "BARRIER=1", strlen("BARRIER=1"), &extra, 0);
        close(ends[1]);
        closed.fd = ends[0];
        while (n >= 0 && poll(&closed, 1, -1) < 0 && errno == EINTR)
                ;
        close(ends[0]);
        return n >= 0 || error_set_errno(error, (int) -n, "Cannot notify systemd");
}

bool notify_send_beside(int socket, const char *state, size_t size, pid_t payload, GError **error) {
        ssize_t n;

        if (!join_group(payload, error))
                return false;
        n = socket_send(socket, NULL, state, size, NULL, 0);
        return n >= 0 ? notify_await_barrier(socket, error) :
                        error_set_errno(error, (int) -n, "Cannot notify systemd");
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
