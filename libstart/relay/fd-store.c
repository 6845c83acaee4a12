/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay/fd-store.h"

#define LISTEN_FDS_START 3
#define LISTEN_FDS_MAX 1024 /* as in service/host.c */

/* Room for what 8192 containers leave there; what is not used takes no memory. */
#define QUEUE_SIZE (64 << 20)

struct FdStore {
        int reader, writer;
        guint n_messages;
};

static bool send_fds(int socket, const char *text, const int *fds, gsize n_fds, GError **error) {
        const SocketExtra extra = { SCM_RIGHTS, fds, n_fds * sizeof *fds };
        ssize_t n = socket_send(socket, NULL, text, strlen(text), &extra, 0);

        return n >= 0 || error_set_errno(error, (int) -n, "Cannot leave descriptors behind");
}

static bool leave_with_systemd(const FdStore *store, const char *address, GError **error) {
        const int ends[] = { store->reader, store->writer };
        _cleanup_close_ int fd = socket_connect(SOCK_DGRAM, address, error);

        if (fd < 0)
                return false;
        /* In one message: both or none. */
        return send_fds(fd, "FDSTORE=1\nFDPOLL=0\nFDNAME=" FD_STORE_NAME, ends, 2, error);
}

static FdStore *take_ends(const int ends[2]) {
        const int size = QUEUE_SIZE;
        FdStore *store = g_new(FdStore, 1);

        *store = (FdStore) { .reader = ends[0], .writer = ends[1] };
        /* Not allowed in a user namespace: then the store holds some hundred containers. */
        (void) setsockopt(store->writer, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
        return store;
}

FdStore *fd_store_open(const char *address, GError **error) {
        g_autoptr(FdStore) store = NULL;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
                error_set_errno(error, errno, "Cannot make a socket");
                return NULL;
        }
        store = take_ends(ends);
        if (address && !leave_with_systemd(store, address, error))
                return NULL;
        return g_steal_pointer(&store);
}

void fd_store_free(FdStore *store) {
        if (!store)
                return;
        fd_closep(&store->reader);
        fd_closep(&store->writer);
        g_free(store);
}

bool fd_store_add(FdStore *store, const char *name, const int *fds, gsize n_fds, GError **error) {
        g_assert(n_fds <= FD_STORE_GROUP_MAX && strlen(name) <= FD_STORE_NAME_MAX);
        if (!send_fds(store->writer, name, fds, n_fds, error))
                return false;
        store->n_messages++;
        return true;
}

/* Copies of what the next message has; it stays in the queue. What fails is tried again: behind it could be a
 * container's pipe, and most of what can fail is memory. */
#define PEEKS_MAX 3

static ssize_t peek(const FdStore *store, char name[FD_STORE_NAME_MAX + 1], int *fds, gsize *ret_n_fds) {
        ssize_t n = -EIO;

        for (int i = 0; i < PEEKS_MAX && n < 0 && n != -EAGAIN; i++)
                n = socket_peek(store->reader, name, FD_STORE_NAME_MAX, fds, FD_STORE_GROUP_MAX, ret_n_fds);
        if (n >= 0)
                name[n] = '\0';
        return n;
}

/* From which byte of the queue on one looks into it, going on by itself; -1: always at the first message. */
static bool peek_from(int reader, int offset, GError **error) {
        return setsockopt(reader, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) == 0 ||
               error_set_errno(error, errno, "Cannot look into a queue");
}

/* An earlier incarnation may have been killed while it read. */
static bool has_message(int end, bool *ret, GError **error) {
        char byte;

        if (!peek_from(end, -1, error))
                return false;
        *ret = recv(end, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
        return *ret || errno == EAGAIN || error_set_errno(error, errno, "Cannot look into a queue");
}

/* The end with something in its queue is the reader; if there is nothing, either will do. */
FdStore *fd_store_reopen(const int ends[2], GError **error) {
        const int turned[] = { ends[1], ends[0] };
        bool is_turned;

        return has_message(ends[1], &is_turned, error) ? take_ends(is_turned ? turned : ends) : NULL;
}

bool fd_store_read(FdStore *store, FdStoreVisit visit, void *data, GError **error) {
        char name[FD_STORE_NAME_MAX + 1];
        int fds[FD_STORE_GROUP_MAX];
        gsize n_fds;
        ssize_t n;

        if (!peek_from(store->reader, 0, error))
                return false;
        for (store->n_messages = 0; (n = peek(store, name, fds, &n_fds)) >= 0; store->n_messages++)
                visit(name, fds, n_fds, data);
        /* All of it, unless there are no descriptors left for more. */
        if (n != -EAGAIN && n != -EMSGSIZE)
                return error_set_errno(error, (int) -n, "Cannot look into a queue");
        return peek_from(store->reader, -1, error);
}

/* Once around: what is kept goes from the begin of the queue to its end, and is nowhere missing meanwhile. */
bool fd_store_sweep(FdStore *store, FdStoreKeep keep, FdStoreVisit drop, void *data, GError **error) {
        char name[FD_STORE_NAME_MAX + 1];
        int fds[FD_STORE_GROUP_MAX];
        gsize n_fds;

        for (guint left = store->n_messages; left > 0 && peek(store, name, fds, &n_fds) >= 0; left--) {
                bool kept = keep(name, data), added = kept && fd_store_add(store, name, fds, n_fds, error);

                if (!kept || added) {
                        (void) recv(store->reader, NULL, 0, MSG_DONTWAIT);
                        store->n_messages--;
                }
                if (!kept)
                        drop(name, fds, n_fds, data);
                else
                        fds_close(fds, n_fds);
                if (kept && !added)
                        return false;
        }
        return true;
}

ListenFd *fd_store_received(const char *listen_pid, const char *listen_fds, const char *listen_fdnames,
                            char ***ret_names) {
        g_auto(GStrv) names = g_strsplit(listen_fdnames ? listen_fdnames : "", ":", -1);
        guint64 pid = 0, n_fds = 0;
        guint n_names = g_strv_length(names);
        ListenFd *received;

        if (!listen_pid || !g_ascii_string_to_unsigned(listen_pid, 10, 1, G_MAXINT, &pid, NULL) ||
            pid != (guint64) getpid() || !listen_fds ||
            !g_ascii_string_to_unsigned(listen_fds, 10, 1, LISTEN_FDS_MAX, &n_fds, NULL))
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
