/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/container-units.h"

/* The ports of the machine that lead to it, one on each line, as `podman ps` has them: "8080->80/tcp",
 * "127.0.0.1:53->53/udp". Also those that the kernel has chosen; of a container in a pod the pod's. NULL: none, or
 * its network is not there. Transfer full. */
char *container_ports(const ContainerUnit *container);

/* The same of the namespace that keyturn-network@UNIT.service has made. */
char *network_ports(const char *unit);
