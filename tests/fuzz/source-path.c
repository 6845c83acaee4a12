/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/source-path.h"
#include "tests/fuzz/fuzz.h"

static void check_mount(const char *mount) {
        size_t start, length;

        if (!source_path_in_mount(mount, &start, &length))
                return;
        require(start + length <= strlen(mount), "the source is from %zu to %zu of %zu", start, start + length,
                strlen(mount));
        require(strncmp(mount + start - strlen("src="), "src=", 4) == 0 ||
                        strncmp(mount + start - strlen("source="), "source=", 7) == 0,
                "no source at %zu", start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *path = fuzz_text(data, size);
        g_autofree char *resolved = source_path_resolve("/etc/containers/systemd/100%/a.container", path);
        g_autofree char *mounts = source_path_for_mounts(path, strlen(path));
        g_autofree char *escaped = source_path_escape_specifiers(path);

        require(resolved[0] == '/' || resolved[0] == '%', "'%s' is relative", resolved);
        require(!mounts || ((mounts[0] == '/' || mounts[0] == '%') && !strchr(mounts, '$')), "'%s' for '%s'", mounts,
                path);
        for (const char *c = escaped; (c = strchr(c, '%')); c += 2)
                require(c[1] == '%', "a specifier in '%s'", escaped);
        check_mount(path);
        return 0;
}
