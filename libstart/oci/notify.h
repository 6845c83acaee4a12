/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/host-facts.h"
#include "libstart/option/launch-args.h"

/* Where the payload finds its socket: podman's place. */
#define NOTIFY_SOCKET_INSIDE "/run/notify/notify.sock"

/* Does the payload talk to systemd itself? */
static inline bool notify_is_for_container(const LaunchArgs *args, const HostFacts *host) {
        return host->notify_socket && g_strcmp0(args->sdnotify, "container") == 0;
}
