/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <limits.h>
#include <stdbool.h>

#include "libstart/oci/host-facts.h"
#include "libstart/request/request.h"

/* What the spec needs to know of the machine and of the service we run in. */
typedef struct Host {
        HostFacts facts;
        char hostname[HOST_NAME_MAX + 1];
} Host;

/* What does not depend on a request. */
bool host_gather(Host *ret, GError **error);

/* The nodes of the devices that a request names. Fails where one is not there, or may not be used. */
bool host_find_devices(Host *host, const ContainerRequest *request, GError **error);

void host_clear(Host *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Host, host_clear)

/* How many descriptors systemd has passed by socket activation (sd_listen_fds(3)); they begin at 3. */
int host_listen_fds(void);
