/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/host-facts.h"

void host_facts_clear(HostFacts *host) {
        g_clear_pointer(&host->thermal_throttle, g_strfreev);
        g_clear_pointer(&host->notify_socket, g_free);
        g_clear_pointer(&host->rootfs_mount, g_free);
}
