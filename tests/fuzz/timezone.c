/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/root/etc-content.h"
#include "tests/fuzz/fuzz.h"

/* What is passed on is a whole zone, as it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *root = fuzz_root("/etc/localtime", data, size);
        g_autofree char *content = NULL;
        g_autoptr(GError) error = NULL;
        gsize length = 0;
        bool ok = etc_localtime(root, "local", &content, &length, &error);

        require_error(ok, error, "");
        require(!ok || (length == size && memcmp(content, data, size) == 0), "another content");
        require(ok == (size >= 4 && memcmp(data, "TZif", 4) == 0), "what is a zone?");
        return 0;
}
