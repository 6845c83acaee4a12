/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/config.h"
#include "tests/fuzz/fuzz.h"

/* A typo must not give a container more than was meant. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *directory = fuzz_root("/etc/keyturn/keyturn.conf", data, size), *network = NULL, *origin = NULL;
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        Root root;

        require(root_open(&root, directory, NULL), "cannot open '%s'", directory);
        g_autoptr(Config) config = config_new(&root);
        bool ok = config_default(config, SETTING_NETWORK, &network, &origin, &error);
        require_error(ok, error, text);
        require(!ok || g_str_equal(network, "host") || g_str_equal(network, "none"), "the network is '%s'", network);
        require(!ok || *origin, "nobody said so");
        root_close(&root);
        return 0;
}
