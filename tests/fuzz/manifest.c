/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/manifest.h"
#include "tests/fuzz/fuzz.h"

/* It leads to a digest, which becomes the name of a file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        bool is_list;
        g_autofree char *digest = manifest_parse((const char *) data, size, "amd64", &is_list, &error);

        require_error(digest, error, text);
        require(!digest || digest_is_valid(digest), "'%s' is no digest", digest);
        return 0;
}
