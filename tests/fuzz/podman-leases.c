/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/network/podman-leases.h"
#include "tests/fuzz/fuzz.h"

/* Whatever is in it, nothing beyond its end is read, and it ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(IpAddress));

        (void) podman_leases_read(data, size, "net", addresses);
        for (guint i = 0; i < addresses->len; i++) {
                g_autofree char *text = ip_address_format(&g_array_index(addresses, IpAddress, i));

                require(text && *text, "an address of the family %d", g_array_index(addresses, IpAddress, i).family);
        }
        return 0;
}
