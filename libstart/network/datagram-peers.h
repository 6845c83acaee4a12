/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <sys/socket.h>

#include "libstart/network/host-ports.h"

/* Who has sent datagrams to a published port: each has a socket of its own towards the container, whose answers go
 * back to it, until it has said nothing for a minute or two, or there are too many. */
typedef struct DatagramPeers DatagramPeers;

/* For as long as the process lives. fd: the port, borrowed. */
DatagramPeers *datagram_peers_new(int fd, const SocketAddress *target);

/* Carries one that waits at the port, if there is one. */
void datagram_peers_take(DatagramPeers *peers);
