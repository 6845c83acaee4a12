/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/log/fd-store.h"

#define LISTEN_FDS_START 3

struct FdStore {
        int socket; /* -1: keeps nothing */
};

FdStore *fd_store_open(const char *address, GError **error) {
        _cleanup_close_ int fd = -1;
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        FdStore *store;

        if (address) {
                size_t length = strlen(address);

                if (length >= sizeof to.sun_path || (address[0] != '/' && address[0] != '@')) {
                        error_set(error, KT_ERROR_FAILED, "NOTIFY_SOCKET is not understood: '%s'", address);
                        return NULL;
                }
                memcpy(to.sun_path, address, length);
                if (address[0] == '@')
                        to.sun_path[0] = '\0';
                fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                if (fd < 0 || connect(fd, (struct sockaddr *) &to,
                                      (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
                        error_set_errno(error, errno, "Cannot reach systemd at '%s'", address);
                        return NULL;
                }
        }
        store = g_new(FdStore, 1);
        store->socket = fd_steal(&fd);
        return store;
}

void fd_store_free(FdStore *store) {
        if (!store)
                return;
        fd_closep(&store->socket);
        g_free(store);
}

/* Descriptors that travel with a message. */
typedef union Control {
        struct cmsghdr header;
        char space[CMSG_SPACE(FD_STORE_GROUP_MAX * sizeof(int))];
} Control;

static bool send_fds(int socket, const char *text, const int *fds, gsize n_fds, const char *what, GError **error) {
        Control control = { 0 };
        struct iovec data = { (char *) text, strlen(text) };
        struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

        if (n_fds > 0) {
                message.msg_control = &control;
                message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_RIGHTS;
                control.header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
                memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
        }
        while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return error_set_errno(error, errno, "Cannot %s", what);
        return true;
}

static bool notify(FdStore *store, const char *text, const int *fds, gsize n_fds, GError **error) {
        return store->socket < 0 || send_fds(store->socket, text, fds, n_fds, "notify systemd", error);
}

/* A message can still be read when its sender has gone. */
static int make_box(const int *fds, gsize n_fds, GError **error) {
        _cleanup_close_ int box = -1, sender = -1;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
                error_set_errno(error, errno, "Cannot make a socket");
                return -1;
        }
        box = ends[0];
        sender = ends[1];
        return send_fds(sender, "box", fds, n_fds, "fill a socket", error) ? fd_steal(&box) : -1;
}

bool fd_store_add(FdStore *store, const char *name, const int *fds, gsize n_fds, GError **error) {
        /* Without FDPOLL=0 systemd drops a socket whose other end is closed. */
        g_autofree char *text = g_strdup_printf("FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
        _cleanup_close_ int box = -1;

        g_assert(n_fds <= FD_STORE_GROUP_MAX);
        box = make_box(fds, n_fds, error);
        return box >= 0 && notify(store, text, &box, 1, error);
}

bool fd_store_open_box(int box, int *fds, gsize *ret_n_fds, GError **error) {
        Control control;
        char text[8];
        struct iovec data = { text, sizeof text };
        struct msghdr message = {
                .msg_iov = &data,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof control,
        };

        if (recvmsg(box, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot look into a stored descriptor");
        *ret_n_fds = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
                        *ret_n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                        memcpy(fds, CMSG_DATA(c), *ret_n_fds * sizeof(int));
                }
        return true;
}

bool fd_store_remove(FdStore *store, const char *name, GError **error) {
        g_autofree char *text = g_strdup_printf("FDSTOREREMOVE=1\nFDNAME=%s", name);

        return notify(store, text, NULL, 0, error);
}

ListenFd *fd_store_received(const char *listen_pid, const char *listen_fds, const char *listen_fdnames,
                            char ***ret_names) {
        g_auto(GStrv) names = g_strsplit(listen_fdnames ? listen_fdnames : "", ":", -1);
        guint64 pid = 0, n_fds = 0;
        guint n_names = g_strv_length(names);
        ListenFd *received;

        if (!listen_pid || !g_ascii_string_to_unsigned(listen_pid, 10, 1, G_MAXINT, &pid, NULL) ||
            pid != (guint64) getpid() || !listen_fds ||
            !g_ascii_string_to_unsigned(listen_fds, 10, 1, G_MAXINT / 2, &n_fds, NULL))
                n_fds = 0;
        received = g_new0(ListenFd, n_fds + 1);
        for (guint i = 0; i < n_fds; i++) {
                received[i].fd = LISTEN_FDS_START + (int) i;
                received[i].name = i < n_names ? names[i] : "";
                (void) fcntl(received[i].fd, F_SETFD, FD_CLOEXEC);
        }
        received[n_fds].fd = -1;
        *ret_names = g_steal_pointer(&names);
        return received;
}
