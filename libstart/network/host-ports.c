/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/network/host-ports.h"
#include "libstart/value/names.h"

#define MAX_TRIES 100

static const struct {
        PortProtocols flag;
        int type, protocol;
} protocols[] = {
        { PORT_TCP, SOCK_STREAM, IPPROTO_TCP },
        { PORT_UDP, SOCK_DGRAM, IPPROTO_UDP },
        { PORT_SCTP, SOCK_STREAM, IPPROTO_SCTP },
};

void socket_address_make(const IpAddress *ip, guint16 port, SocketAddress *ret) {
        struct sockaddr_in *v4 = (struct sockaddr_in *) &ret->address;
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) &ret->address;

        memset(ret, 0, sizeof *ret);
        ret->address.ss_family = (sa_family_t) ip->family;
        if (ip->family == AF_INET) {
                v4->sin_port = htons(port);
                memcpy(&v4->sin_addr, ip->byte, 4);
                ret->length = sizeof *v4;
                return;
        }
        v6->sin6_port = htons(port);
        memcpy(&v6->sin6_addr, ip->byte, 16);
        ret->length = sizeof *v6;
}

/* *port 0: becomes the kernel's choice. False: someone has it. What else is wrong, as a protocol or an address that
 * the machine does not have yet, is no reason not to publish. */
static bool try_port(const IpAddress *ip, size_t protocol, guint16 *port) {
        _cleanup_close_ int fd = socket(ip->family, protocols[protocol].type | SOCK_CLOEXEC,
                                        protocols[protocol].protocol);
        SocketAddress made;
        struct sockaddr *address = (struct sockaddr *) &made.address;
        int one = 1;

        if (fd < 0)
                return true;
        socket_address_make(ip, *port, &made);
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, protocols[protocol].flag == PORT_UDP ? 0 : sizeof one);
        if (ip->family == AF_INET6)
                (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
        if (bind(fd, address, made.length) < 0)
                return errno != EADDRINUSE;
        if (*port == 0 && getsockname(fd, address, &made.length) == 0)
                *port = ntohs(ip->family == AF_INET ? ((struct sockaddr_in *) &made.address)->sin_port :
                                                      ((struct sockaddr_in6 *) &made.address)->sin6_port);
        return true;
}

guint ports_list_addresses(const PortMapping *mapping, IpAddress ret[2]) {
        if (ip_address_parse(mapping->host_ip, &ret[0]))
                return 1;
        ret[0] = (IpAddress) { .family = AF_INET };
        ret[1] = (IpAddress) { .family = AF_INET6 };
        return 2;
}

/* The first port that someone has, or 0. */
static guint16 find_used(const PortMapping *mapping) {
        IpAddress ips[2];
        guint n = ports_list_addresses(mapping, ips);

        for (size_t protocol = 0; protocol < G_N_ELEMENTS(protocols); protocol++)
                for (guint i = 0; mapping->protocols & protocols[protocol].flag && i < n; i++)
                        for (guint offset = 0; offset < mapping->range; offset++) {
                                guint16 port = (guint16) (mapping->host_port + offset);

                                if (!try_port(&ips[i], protocol, &port))
                                        return port;
                        }
        return 0;
}

static bool overlaps_others(const GArray *ports, guint which) {
        const PortMapping *mine = &g_array_index(ports, PortMapping, which);

        for (guint i = 0; i < ports->len; i++) {
                const PortMapping *other = &g_array_index(ports, PortMapping, i);

                if (i != which && other->host_port && other->host_port < mine->host_port + mine->range &&
                    mine->host_port < other->host_port + other->range)
                        return true;
        }
        return false;
}

static bool choose(GArray *ports, guint which, const LeaseTable *table, GError **error) {
        PortMapping *mapping = &g_array_index(ports, PortMapping, which);
        size_t protocol = mapping->protocols & PORT_TCP ? 0 : 1;
        IpAddress ips[2];

        (void) ports_list_addresses(mapping, ips);
        for (int tries = 0; tries < MAX_TRIES; tries++) {
                mapping->host_port = 0;
                if (try_port(&ips[0], protocol, &mapping->host_port) && mapping->host_port &&
                    mapping->host_port + mapping->range - 1 <= G_MAXUINT16 && !find_used(mapping) &&
                    !(table && lease_table_find_port(table, mapping)) && !overlaps_others(ports, which))
                        return true;
        }
        return error_set(error, KT_ERROR_FAILED, "The kernel has no free port for the container's port %u",
                         mapping->container_port);
}

static bool check_given(const PortMapping *mapping, const LeaseTable *table, GError **error) {
        const char *other = lease_table_find_port(table, mapping);
        g_autofree char *text = port_mapping_format(mapping);
        guint16 used;

        if (other) {
                g_autofree char *unit = name_ahead_unit("network", other);

                return error_set(error, KT_ERROR_TAKEN, "The port of '%s' is in use: %s publishes it", text, unit);
        }
        used = find_used(mapping);
        /* Of a user's it may be the process of the network before this one, which is about to end. */
        for (int tries = 0; used && user_view_is_here() && tries < MAX_TRIES; tries++) {
                g_usleep(10 * 1000);
                used = find_used(mapping);
        }
        return used == 0 || error_set(error, KT_ERROR_FAILED,
                                      "The port of '%s' is in use: a program of this machine has %u", text, used);
}

static bool is_same(const PortMapping *a, const PortMapping *b) {
        return g_str_equal(a->host_ip, b->host_ip) && a->host_port == b->host_port &&
               a->container_port == b->container_port && a->range == b->range && a->protocols == b->protocols;
}

static bool check_each_other(GArray *ports, GError **error) {
        for (guint i = 0; i < ports->len; i++)
                for (guint j = ports->len - 1; j > i; j--) {
                        const PortMapping *a = &g_array_index(ports, PortMapping, i);
                        const PortMapping *b = &g_array_index(ports, PortMapping, j);

                        if (port_mapping_conflicts(a, b))
                                return error_set(error, KT_ERROR_USAGE,
                                                 "The port %u of the machine cannot lead to two ports of a container",
                                                 b->host_port);
                        if (is_same(a, b) && a->host_port)
                                g_array_remove_index(ports, j);
                }
        return true;
}

bool ports_settle(GArray *ports, const LeaseTable *table, GError **error) {
        if (!check_each_other(ports, error))
                return false;
        for (guint i = 0; i < ports->len; i++) {
                const PortMapping *mapping = &g_array_index(ports, PortMapping, i);

                if (mapping->host_port ? table && !check_given(mapping, table, error) :
                                         !choose(ports, i, table, error))
                        return false;
        }
        return true;
}
