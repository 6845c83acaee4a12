/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/short-names.h"
#include "tests/fuzz/fuzz.h"

/* Of the two files that are read, the one in which podman remembers what it was told: it has the same form. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *root = fuzz_root("/var/cache/containers/short-name-aliases.conf", data, size);
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        ShortNames *names = short_names_load(root, &error);
        GHashTableIter iter;
        void *alias;

        require_error(names, error, text);
        if (names) {
                g_hash_table_iter_init(&iter, names->aliases);
                while (g_hash_table_iter_next(&iter, NULL, &alias))
                        require(*(char *) alias, "an empty alias");
        }
        short_names_free(names);
        return 0;
}
