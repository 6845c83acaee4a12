/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *path = fuzz_text(data, size);
        g_autofree char *resolved = key_resolve_path("/etc/containers/systemd/100%", path);
        g_autofree char *mounts = specifiers_required_path(path);
        g_autofree char *escaped = specifiers_escape(path, "%");

        require(resolved[0] == '/' || resolved[0] == '%', "'%s' is relative", resolved);
        require(!mounts || ((mounts[0] == '/' || mounts[0] == '%') && !strchr(mounts, '$')), "'%s' for '%s'", mounts,
                path);
        for (const char *c = escaped; (c = strchr(c, '%')); c += 2)
                require(c[1] == '%', "a specifier in '%s'", escaped);
        return 0;
}
