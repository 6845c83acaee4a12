/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/network/datagram-peers.h"

#define MAX_PEERS 256
#define MAX_OF_ALL_PORTS 1024
#define SILENCE 60 /* seconds */
#define DATAGRAM_MAX 65535

struct DatagramPeers {
        int fd;
        SocketAddress target;
        GMutex lock;
        GHashTable *known; /* GBytes, the address -> Peer, which its thread frees */
};

typedef struct Peer {
        DatagramPeers *peers;
        SocketAddress address;
        int fd; /* connected to the container */
        gint64 heard;
        bool is_gone; /* for another one */
} Peer;

static int n_threads;

DatagramPeers *datagram_peers_new(int fd, const SocketAddress *target) {
        DatagramPeers *peers = g_new0(DatagramPeers, 1);

        peers->fd = fd;
        peers->target = *target;
        g_mutex_init(&peers->lock);
        peers->known = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
        return peers;
}

static GBytes *make_key(const SocketAddress *address) {
        return g_bytes_new(&address->address, address->length);
}

static void forget(Peer *peer) {
        g_autoptr(GBytes) key = make_key(&peer->address);

        g_hash_table_remove(peer->peers->known, key);
}

/* The client may be one that does not wait for answers. */
static bool is_over(Peer *peer, bool heard_nothing) {
        bool over;

        g_mutex_lock(&peer->peers->lock);
        over = peer->is_gone || (heard_nothing && g_get_monotonic_time() - peer->heard > SILENCE * G_USEC_PER_SEC);
        if (over && !peer->is_gone)
                forget(peer);
        g_mutex_unlock(&peer->peers->lock);
        return over;
}

/* An error is that of a datagram before (ECONNREFUSED), and says nothing of those to come. */
static void *answer(void *data) {
        Peer *peer = data;
        g_autofree char *buffer = g_malloc(DATAGRAM_MAX);

        for (;;) {
                ssize_t n = recv(peer->fd, buffer, DATAGRAM_MAX, 0);

                if (is_over(peer, n < 0))
                        break;
                if (n >= 0)
                        (void) sendto(peer->peers->fd, buffer, (size_t) n, MSG_NOSIGNAL,
                                      (struct sockaddr *) &peer->address.address, peer->address.length);
        }
        close(peer->fd);
        g_free(peer);
        g_atomic_int_add(&n_threads, -1);
        return NULL;
}

static int connect_to_container(const SocketAddress *target) {
        _cleanup_close_ int fd = socket(target->address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const struct timeval silence = { SILENCE, 0 };

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence) < 0 ||
            connect(fd, (const struct sockaddr *) &target->address, target->length) < 0)
                return -1;
        return fd_steal(&fd);
}

/* Who sends from ever other ports would else keep all others out. */
static void drop_oldest(DatagramPeers *peers) {
        Peer *oldest = NULL;
        GHashTableIter iter;
        gpointer peer;

        g_hash_table_iter_init(&iter, peers->known);
        while (g_hash_table_iter_next(&iter, NULL, &peer))
                if (!oldest || ((Peer *) peer)->heard < oldest->heard)
                        oldest = peer;
        if (!oldest)
                return;
        forget(oldest);
        oldest->is_gone = true;
        (void) shutdown(oldest->fd, SHUT_RDWR); /* wakes its thread */
}

/* NULL: it cannot be had. */
static Peer *add_peer(DatagramPeers *peers, const SocketAddress *address) {
        bool is_full = g_atomic_int_get(&n_threads) >= MAX_OF_ALL_PORTS;
        g_autoptr(GThread) thread = NULL;
        _cleanup_close_ int fd = -1;
        Peer *peer;

        if (is_full || g_hash_table_size(peers->known) >= MAX_PEERS)
                drop_oldest(peers);
        if (is_full || (fd = connect_to_container(&peers->target)) < 0)
                return NULL;
        peer = g_new0(Peer, 1);
        *peer = (Peer) { peers, *address, fd, g_get_monotonic_time(), false };
        g_atomic_int_inc(&n_threads);
        thread = g_thread_try_new("answer", answer, peer, NULL);
        if (!thread) {
                g_atomic_int_add(&n_threads, -1);
                g_free(peer);
                return NULL;
        }
        (void) fd_steal(&fd);
        g_hash_table_insert(peers->known, make_key(address), peer);
        return peer;
}

void datagram_peers_take(DatagramPeers *peers) {
        static char buffer[DATAGRAM_MAX];
        SocketAddress from = { .length = sizeof from.address };
        ssize_t n = recvfrom(peers->fd, buffer, sizeof buffer, MSG_DONTWAIT, (struct sockaddr *) &from.address,
                             &from.length);
        g_autoptr(GBytes) key = n < 0 ? NULL : make_key(&from);
        Peer *peer;

        if (!key)
                return;
        g_mutex_lock(&peers->lock);
        peer = g_hash_table_lookup(peers->known, key) ?: add_peer(peers, &from);
        if (peer) {
                peer->heard = g_get_monotonic_time();
                (void) send(peer->fd, buffer, (size_t) n, MSG_DONTWAIT | MSG_NOSIGNAL);
        }
        g_mutex_unlock(&peers->lock);
}
