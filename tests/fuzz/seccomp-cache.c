/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/seccomp/cache.h"
#include "seccomp-precompile/bpf-disassemble.h"
#include "tests/fuzz/fuzz.h"

#define OFFSET_DIGEST 136

/* What is believed is the same bytes when it is written again, and can be shown. */
static void try_decode(const uint8_t *data, size_t size) {
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_decode(data, size, &error);

        require_error(entry, error, "");
        if (!entry)
                return;
        g_autoptr(GBytes) again = seccomp_cache_encode(entry);
        require(g_bytes_get_size(again) == size && memcmp(g_bytes_get_data(again, NULL), data, size) == 0,
                "decoding and encoding makes another file");
        g_autofree char *text = bpf_disassemble(g_bytes_get_data(entry->filter, NULL),
                                                g_bytes_get_size(entry->filter) / sizeof(struct sock_filter));
}

/* Once as it is, and once with the right digest: no fuzzer finds that by itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        try_decode(data, size);
        if (size < OFFSET_DIGEST + SECCOMP_DIGEST_SIZE)
                return 0;
        g_autofree guint8 *sealed = g_memdup2(data, size);
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_MD5);
        gsize digest_size = SECCOMP_DIGEST_SIZE;
        memset(sealed + OFFSET_DIGEST, 0, SECCOMP_DIGEST_SIZE);
        g_checksum_update(checksum, sealed, (gssize) size);
        g_checksum_get_digest(checksum, sealed + OFFSET_DIGEST, &digest_size);
        try_decode(sealed, size);
        return 0;
}
