/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/store/layers.h"
#include "tests/fuzz/fuzz.h"

#define TOP "1111111111111111111111111111111111111111111111111111111111111111"
#define BELOW "0000000000000000000000000000000000000000000000000000000000000000"

/* The list of what lies below a layer leads to directories of the store, and to no other. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static char *const chain_ids[] = { (char *) BELOW, (char *) TOP, NULL };
        const char *root = fuzz_root("/overlay/" TOP "/lower", data, size);
        g_autofree char *text = fuzz_text(data, size), *overlay = g_strconcat(root, "/overlay/", NULL);
        char *const stores[] = { (char *) root, NULL };
        g_autoptr(GError) error = NULL;
        g_auto(GStrv) layers = layers_find(stores, TOP, chain_ids, &error);

        require_error(layers, error, text);
        for (char **layer = layers; layer && *layer; layer++)
                require(g_str_has_prefix(*layer, overlay) && !strstr(*layer, ".."), "'%s' is a layer", *layer);
        return 0;
}
