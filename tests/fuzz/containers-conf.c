/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/seccomp/profile-file.h"
#include "tests/fuzz/fuzz.h"

/* Whatever is in the file: a profile is an absolute path, and never "unconfined". */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *root = fuzz_root("/etc/containers/containers.conf", data, size);
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autofree char *path = seccomp_default_profile_path(root, &error);

        require_error(path, error, text);
        require(!path || path[0] == '/', "the profile is '%s'", path);
        return 0;
}
