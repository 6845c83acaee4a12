/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/seccomp-request.h"
#include "tests/fuzz/fuzz.h"

/* What was read from a drop-in and written again is read as the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) requests = seccomp_requests_parse_dropin(text, &error);

        require_error(requests, error, text);
        if (!requests)
                return 0;
        g_autofree char *first = seccomp_requests_format_dropin(requests);
        g_autoptr(GPtrArray) again = seccomp_requests_parse_dropin(first, NULL);
        g_autofree char *second = again ? seccomp_requests_format_dropin(again) : NULL;
        require(g_strcmp0(first, second) == 0, "'%s' became '%s'", first, second);
        return 0;
}
