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

/* Of a user. All her processes together may have as many descriptors under way as the one that sends some may open
 * (RLIMIT_NOFILE), usually 1024: with more in the queue no program of hers could send any, not even a start. */
#define USERS_FDS_MAX 768

struct FdStore {
        int reader, writer;
        guint n_messages;
        gsize n_fds, n_fds_max; /* in all of them */
        GQueue waiting;         /* of Group: there was no room for it */
};

typedef struct Group {
        char *name;
        int fds[FD_STORE_GROUP_MAX]; /* ours */
        gsize n_fds;
} Group;

/* Returns 0 or a negative errno. */
static int send_fds(int socket, const char *text, const int *fds, gsize n_fds) {
        const SocketExtra extra = { SCM_RIGHTS, fds, n_fds * sizeof *fds };

        return (int) MIN(socket_send(socket, NULL, text, strlen(text), &extra, 0), 0);
}

static bool tell(int r, GError **error) {
        return r == 0 || error_set_errno(error, -r, "Cannot leave descriptors behind");
}

static bool leave_with_systemd(const FdStore *store, const char *address, GError **error) {
        const int ends[] = { store->reader, store->writer };
        _cleanup_close_ int fd = socket_connect(SOCK_DGRAM, address, error);

        if (fd < 0)
                return false;
        /* In one message: both or none. */
        return tell(send_fds(fd, "FDSTORE=1\nFDPOLL=0\nFDNAME=" FD_STORE_NAME, ends, 2), error);
}

static FdStore *take_ends(const int ends[2]) {
        const int size = QUEUE_SIZE;
        FdStore *store = g_new(FdStore, 1);

        *store = (FdStore) { .reader = ends[0], .writer = ends[1], .n_fds_max = G_MAXSIZE, .waiting = G_QUEUE_INIT };
        /* Not allowed in a user namespace: then it gets what others may have, room for some hundred messages. */
        if (setsockopt(store->writer, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0) {
                (void) setsockopt(store->writer, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
                store->n_fds_max = USERS_FDS_MAX;
        }
        return store;
}

FdStore *fd_store_open(const char *address, GError **error) {
        g_autoptr(FdStore) store = NULL;
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
                return error_null_errno(error, errno, "Cannot make a socket");
        store = take_ends(ends);
        if (address && !leave_with_systemd(store, address, error))
                return NULL;
        return g_steal_pointer(&store);
}

static void group_free(Group *group) {
        fds_close(group->fds, group->n_fds);
        g_free(group->name);
        g_free(group);
}

void fd_store_free(FdStore *store) {
        if (!store)
                return;
        g_queue_clear_full(&store->waiting, (GDestroyNotify) group_free);
        fd_closep(&store->reader);
        fd_closep(&store->writer);
        g_free(store);
}

static int add(FdStore *store, const char *name, const int *fds, gsize n_fds) {
        int r = send_fds(store->writer, name, fds, n_fds);

        if (r == 0) {
                store->n_messages++;
                store->n_fds += n_fds;
        }
        return r;
}

static int add_new(FdStore *store, const char *name, const int *fds, gsize n_fds) {
        return store->n_fds + n_fds > store->n_fds_max ? -ETOOMANYREFS : add(store, name, fds, n_fds);
}

/* Takes over what there is no room for: it is added when something has left. */
static void wait_for_room(FdStore *store, const char *name, const int *fds, gsize n_fds) {
        Group *group = g_new(Group, 1);

        *group = (Group) { .name = g_strdup(name), .n_fds = n_fds };
        memcpy(group->fds, fds, n_fds * sizeof *fds);
        g_queue_push_tail(&store->waiting, group);
}

bool fd_store_add(FdStore *store, const char *name, const int *fds, gsize n_fds, GError **error) {
        int copies[FD_STORE_GROUP_MAX], r;
        gsize n = 0;

        g_assert(n_fds <= FD_STORE_GROUP_MAX && strlen(name) <= FD_STORE_NAME_MAX);
        r = add_new(store, name, fds, n_fds);
        if (r == 0)
                return true;
        while (n < n_fds && (copies[n] = fcntl(fds[n], F_DUPFD_CLOEXEC, 0)) >= 0)
                n++;
        if (n == n_fds)
                wait_for_room(store, name, copies, n);
        else
                fds_close(copies, n);
        return tell(r, error);
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
        store->n_messages = 0;
        store->n_fds = 0;
        while ((n = peek(store, name, fds, &n_fds)) >= 0) {
                store->n_messages++;
                store->n_fds += n_fds;
                visit(name, fds, n_fds, data);
        }
        /* All of it, unless there are no descriptors left for more. */
        if (n != -EAGAIN && n != -EMSGSIZE)
                return error_set_errno(error, (int) -n, "Cannot look into a queue");
        return peek_from(store->reader, -1, error);
}

/* It holds as much as it may, or a user's processes have as many descriptors under way as they may. */
static bool is_full(int r) {
        return r == -EAGAIN || r == -ETOOMANYREFS;
}

static void add_waiting(FdStore *store, FdStoreKeep keep, FdStoreVisit drop, void *data) {
        for (guint left = g_queue_get_length(&store->waiting); left > 0; left--) {
                Group *group = g_queue_pop_head(&store->waiting);
                bool kept = keep(group->name, data);

                if (kept && add_new(store, group->name, group->fds, group->n_fds) < 0) {
                        g_queue_push_tail(&store->waiting, group);
                        continue;
                }
                if (!kept) {
                        drop(group->name, group->fds, group->n_fds, data);
                        group->n_fds = 0;
                }
                group_free(group);
        }
}

/* Once around: what is kept goes from the begin of the queue to its end, and is nowhere missing meanwhile. Only where
 * the queue is full it is taken out first, as else nothing would ever leave; for that moment a kill would lose it. */
bool fd_store_sweep(FdStore *store, FdStoreKeep keep, FdStoreVisit drop, void *data, GError **error) {
        char name[FD_STORE_NAME_MAX + 1];
        int fds[FD_STORE_GROUP_MAX];
        gsize n_fds;

        for (guint left = store->n_messages; left > 0 && peek(store, name, fds, &n_fds) >= 0; left--) {
                bool kept = keep(name, data);
                int r = kept ? add(store, name, fds, n_fds) : 0;

                if (r < 0 && !is_full(r)) {
                        fds_close(fds, n_fds);
                        return tell(r, error);
                }
                (void) recv(store->reader, NULL, 0, MSG_DONTWAIT);
                store->n_messages--;
                store->n_fds -= n_fds;
                if (!kept)
                        drop(name, fds, n_fds, data);
                else if (r < 0 && (r = add(store, name, fds, n_fds)) < 0) {
                        /* Others of the user's have taken the room: not all that is stored is to wait for them. */
                        wait_for_room(store, name, fds, n_fds);
                        return tell(r, error);
                } else
                        fds_close(fds, n_fds);
        }
        add_waiting(store, keep, drop, data);
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
