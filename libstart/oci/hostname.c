/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/hostname.h"

#define ID_DIGITS 12

char *hostname_choose(const LaunchArgs *args, const HostFacts *host) {
        if (args->hostname)
                return g_strdup(args->hostname);
        if (g_strcmp0(args->network, "none") != 0)
                return g_strdup(host->hostname);

        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, args->name ?: "", -1);
        return g_strndup(id, ID_DIGITS);
}
