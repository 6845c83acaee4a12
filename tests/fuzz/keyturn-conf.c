/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/files/keyturn-conf.h"
#include "tests/fuzz/fuzz.h"

/* A typo must not give a container more than was meant. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char *const networks[] = { "bridge", "host", "none", NULL };
        const char *directory = fuzz_root("/etc/keyturn/keyturn.conf", data, size), *network = NULL, *origin = NULL;
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        Tree tree;

        require(tree_open(&tree, directory, NULL), "cannot open '%s'", directory);
        g_autoptr(KeyturnConf) conf = keyturn_conf_new(&tree);
        bool ok = keyturn_conf_default(conf, SETTING_NETWORK, &network, &origin, &error);
        require_error(ok, error, text);
        require(!ok || g_strv_contains(networks, network), "the network is '%s'", network);
        require(!ok || *origin, "nobody said so");
        tree_close(&tree);
        return 0;
}
