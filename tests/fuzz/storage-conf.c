/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/store-conf.h"
#include "tests/fuzz/fuzz.h"

/* There is always a store, and each has an absolute path. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        StoreSettings *settings = store_settings_new();
        g_autoptr(GError) error = NULL;
        bool ok = store_settings_apply(settings, (const char *) data, size, "storage.conf", &error);
        unsigned n_writable;
        g_auto(GStrv) stores = store_settings_stores(settings, &n_writable);

        require_error(ok, error, text);
        require(ok || g_str_has_prefix(error->message, "storage.conf:"), "'%s' names no file", error->message);
        require(stores[0] && n_writable >= 1 && n_writable <= g_strv_length(stores), "%u of %u stores are writable",
                n_writable, g_strv_length(stores));
        for (char **store = stores; *store; store++)
                require_clean(*store);
        store_settings_free(settings);
        return 0;
}
