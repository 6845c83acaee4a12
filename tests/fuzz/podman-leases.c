/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/network/podman-leases.h"
#include "tests/fuzz/fuzz.h"

static void add(const IpAddress *address, void *data) {
        g_autofree char *text = ip_address_format(address);

        require(text && *text, "an address of the family %d", address->family);
}

/* Whatever is in it, nothing beyond its end is read, and it ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        (void) podman_leases_read(data, size, "net", add, NULL);
        return 0;
}
