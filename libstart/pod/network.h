/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/request.h"
#include "libstart/value/network-names.h"

/* A user's container with the network of a second container enters the second's user namespace, too, as containers of
 * a pod share theirs. The network belongs to that namespace, and so do /sys, ports below 1024 and what NET_ADMIN is
 * for. */
typedef struct JoinedUserns {
        char *path; /* NULL: there is none */
        int fd;     /* what keeps it, where the path leads; or -1 */
} JoinedUserns;

/* The network of a container that has another one than the host's or none. It is ready: nothing is made or changed
 * here. */
typedef struct Network {
        char *path;          /* of the namespace that the container is to enter; NULL: the host's, or a new one */
        int fd;              /* what keeps it, where the path leads there; or -1 */
        JoinedUserns userns; /* that it belongs to, and which the container is to enter with it */
        NetworkNames names;  /* what there is to say of it, where there is a path */
} Network;

#define NETWORK_NULL { .fd = -1, .userns = { .fd = -1 } }

/* Finds the namespace and looks whether it is one. Of what keyturn-network has made, it reads the names, too; if the
 * network was made for something else, as the file has changed since, it waits until it is made anew. That of another
 * container may turn out to be the host's: then the request says so afterwards. In a user's view it says that the
 * container enters that one's user namespace, too. */
bool network_find(ContainerRequest *request, Network *ret, GError **error);

/* Whoever is root in the container is to be master of its network, and of nothing else: a network that is to be owned
 * belongs to the user namespace that the container enters. Where it is another's, as the ids have changed, it waits
 * until it is made anew. userns: that namespace's file; without one, and for other networks, it does nothing. */
bool network_settle_owner(const NetworkChoice *choice, const char *userns, Network *network, GError **error);

/* For showing what would be: nothing is looked for. */
void network_pretend(const ContainerRequest *request, Network *ret);

void network_clear(Network *network);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Network, network_clear)
