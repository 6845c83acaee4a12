/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/network/datagram-peers.h"
#include "libstart/network/host-ports.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/user-bridges.h"
#include "libstart/network/user-ports.h"
#include "libstart/systemd/systemd-notify.h"
#include "libstart/value/names.h"

#define MAX_CONNECTIONS 1024
#define BACKLOG 128

typedef struct Listener {
        int fd;
        bool is_stream;
        SocketAddress target;
        DatagramPeers *peers; /* NULL: it is_stream */
} Listener;

/*
 * Connections: a thread for each direction, so that none waits for the other
 */

typedef struct Connection {
        int client, container;
        SocketAddress target;
        gint references;
} Connection;

static gint n_connections;

static void connection_unref(Connection *connection) {
        if (!g_atomic_int_dec_and_test(&connection->references))
                return;
        close(connection->client);
        close(connection->container);
        g_free(connection);
        g_atomic_int_add(&n_connections, -1);
}

/* An end that is closed is closed at the other side, which may have more to say; after an error nobody has. */
static void carry(int from, int to) {
        char buffer[16384];
        ssize_t n;

        do
                n = read(from, buffer, sizeof buffer);
        while ((n < 0 && errno == EINTR) || (n > 0 && fd_write_all(to, buffer, (size_t) n)));
        if (n == 0)
                (void) shutdown(to, SHUT_WR);
        else {
                (void) shutdown(to, SHUT_RDWR);
                (void) shutdown(from, SHUT_RDWR);
        }
}

static void *carry_back(void *data) {
        Connection *connection = data;

        carry(connection->container, connection->client);
        connection_unref(connection);
        return NULL;
}

/* Whether the machine has a thread for it. Takes a reference over. */
static bool run_apart(void *(*run)(void *), Connection *connection) {
        g_autoptr(GThread) thread = g_thread_try_new("carry", run, connection, NULL);

        if (!thread)
                connection_unref(connection);
        return thread;
}

static void *connect_and_carry(void *data) {
        Connection *connection = data;

        if (connect(connection->container, (struct sockaddr *) &connection->target.address,
                    connection->target.length) == 0) {
                g_atomic_int_inc(&connection->references);
                if (run_apart(carry_back, connection))
                        carry(connection->client, connection->container);
        }
        connection_unref(connection);
        return NULL;
}

static void take_connection(const Listener *listener) {
        _cleanup_close_ int client = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC), container = -1;
        int one = 1, tries = 3, idle = 60;
        Connection *connection;

        /* The listener stays ready: without descriptors this would go round and round. */
        if (client < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
                g_usleep(G_USEC_PER_SEC / 10);
        if (client < 0 || g_atomic_int_get(&n_connections) >= MAX_CONNECTIONS)
                return;
        container = socket(listener->target.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (container < 0)
                return;
        /* Ends that are gone or do not answer are not to take the places of others for long. */
        (void) setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
        (void) setsockopt(client, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
        (void) setsockopt(container, IPPROTO_TCP, TCP_SYNCNT, &tries, sizeof tries);
        connection = g_new0(Connection, 1);
        *connection = (Connection) { fd_steal(&client), fd_steal(&container), listener->target, 1 };
        g_atomic_int_inc(&n_connections);
        (void) run_apart(connect_and_carry, connection);
}

/*
 * The machine's ports
 */

/* Of an internal network nothing is published, as with root's. Of the family, if there is one. */
static const IpAddress *find_target(const SetupSummary *setup, int family) {
        const IpAddress *found = NULL;

        for (guint i = 0; i < setup->networks->len; i++) {
                const SummaryNetwork *network = setup->networks->pdata[i];

                for (guint j = 0; !network->internal && j < network->addresses->len; j++) {
                        const IpAddress *address = &g_array_index(network->addresses, IpAddress, j);

                        if (!found || (found->family != family && address->family == family))
                                found = address;
                }
        }
        return found;
}

static bool begin_to_listen(Listener *listener, const SocketAddress *address) {
        int one = 1, type = (listener->is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;

        listener->fd = socket(address->address.ss_family, type, 0);
        if (listener->fd < 0)
                return false;
        if (listener->is_stream)
                (void) setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (address->address.ss_family == AF_INET6)
                (void) setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
        return bind(listener->fd, (const struct sockaddr *) &address->address, address->length) == 0 &&
               (!listener->is_stream || listen(listener->fd, BACKLOG) == 0);
}

/* One that may be without IPv6 has no ports of it. */
static bool is_missing_family(const IpAddress *ip, const PortMapping *port, int problem) {
        return ip->family == AF_INET6 && !port->host_ip[0] && (problem == EAFNOSUPPORT || problem == EADDRNOTAVAIL);
}

static bool listen_at(GArray *listeners, const PortMapping *port, const IpAddress *ip, guint offset,
                      const IpAddress *container, GError **error) {
        guint16 number = (guint16) (port->host_port + offset);
        Listener listener = { .fd = -1, .is_stream = port->protocols == PORT_TCP };
        SocketAddress address;

        socket_address_make(ip, number, &address);
        socket_address_make(container, (guint16) (port->container_port + offset), &listener.target);
        if (!begin_to_listen(&listener, &address)) {
                int problem = errno;

                fd_closep(&listener.fd);
                return is_missing_family(ip, port, problem) ||
                       error_set_errno(error, problem, "Cannot listen at the port %u", number);
        }
        if (!listener.is_stream)
                listener.peers = datagram_peers_new(listener.fd, &listener.target);
        g_array_append_val(listeners, listener);
        return true;
}

static bool publish(GArray *listeners, const SetupSummary *setup, const PortMapping *port, GError **error) {
        IpAddress ips[2];
        guint n = ports_list_addresses(port, ips);

        for (guint i = 0; i < n; i++) {
                const IpAddress *container = find_target(setup, ips[i].family);

                for (guint offset = 0; container && offset < port->range; offset++)
                        if (!listen_at(listeners, port, &ips[i], offset, container, error))
                                return false;
        }
        return true;
}

static bool publish_all(GArray *listeners, const char *unit, GError **error) {
        g_autofree char *maker = name_ahead_unit("network", unit);
        g_autoptr(SetupSummary) setup = NULL;

        if (!namespace_state_read_summary(unit, &setup, error))
                return false;
        if (!setup)
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "There is no network of '%s' to publish ports of: start %s", unit, maker);
        for (guint i = 0; i < setup->ports->len; i++)
                if (!publish(listeners, setup, &g_array_index(setup->ports, PortMapping, i), error))
                        return false;
        return true;
}

static bool enter_bridges(GError **error) {
        _cleanup_close_ int bridges = user_bridges_open();

        if (bridges < 0)
                return error_set(error, KT_ERROR_NOT_FOUND, "There is no network namespace for the user's bridges");
        return setns(bridges, CLONE_NEWNET) == 0 ||
               error_set_errno(error, errno, "Cannot enter the network namespace of the user's bridges");
}

/* A network that is made anew has other addresses and ports, and wants these to be free: its names go first. */
static int watch_network(const char *unit, GError **error) {
        g_autofree char *names = namespace_state_path(unit, STATE_NAMES);
        _cleanup_close_ int watch = inotify_init1(IN_CLOEXEC);

        if (watch < 0 || inotify_add_watch(watch, names, IN_DELETE_SELF) < 0)
                return error_negative_errno(error, errno, "Cannot watch '%s'", names);
        return fd_steal(&watch);
}

/* Until the network has gone. */
static bool serve(const GArray *listeners, int watch, GError **error) {
        g_autofree struct pollfd *polled = g_new0(struct pollfd, listeners->len + 1);

        polled[listeners->len] = (struct pollfd) { watch, POLLIN, 0 };
        for (guint i = 0; i < listeners->len; i++)
                polled[i] = (struct pollfd) { g_array_index(listeners, Listener, i).fd, POLLIN, 0 };
        while (poll(polled, listeners->len + 1, -1) >= 0 || errno == EINTR) {
                if (polled[listeners->len].revents)
                        return true;
                for (guint i = 0; i < listeners->len; i++) {
                        const Listener *listener = &g_array_index(listeners, Listener, i);

                        if (!polled[i].revents)
                                continue;
                        if (listener->is_stream)
                                take_connection(listener);
                        else
                                datagram_peers_take(listener->peers);
                }
        }
        return error_set_errno(error, errno, "Cannot wait for clients");
}

/* The ports are the machine's as they are bound before; what is connected afterwards comes from the bridges. */
bool ports_command(const char *unit, GError **error) {
        g_autoptr(GArray) listeners = g_array_new(FALSE, FALSE, sizeof(Listener));
        g_autoptr(Notify) systemd = NULL;
        _cleanup_close_ int watch = -1;

        if (!user_view_is_here())
                return error_set(error, KT_ERROR_USAGE, "ports is for users' bridges: netavark publishes root's");
        if (!namespace_name_check(unit, error) || (watch = watch_network(unit, error)) < 0 ||
            !publish_all(listeners, unit, error) || !enter_bridges(error))
                return false;
        (void) signal(SIGPIPE, SIG_IGN); /* of clients that have gone */
        systemd = notify_open(error);
        return !*error && notify_send(systemd, "READY=1", error) && serve(listeners, watch, error);
}
