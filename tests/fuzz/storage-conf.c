/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/store-conf.h"
#include "tests/fuzz/fuzz.h"

/* There is always a store, and each has an absolute path. */
static void read_as(const uint8_t *data, size_t size, const char *text, const char *const *variables) {
        StoreSettings *settings = store_settings_new();
        g_autoptr(GError) error = NULL;
        settings->variables = g_strdupv((char **) variables);
        bool ok = store_settings_apply(settings, (const char *) data, size, "storage.conf", &error);
        unsigned n_writable;
        g_auto(GStrv) stores = store_settings_stores(settings, &n_writable);

        require_error(ok, error, text);
        require(ok || g_str_has_prefix(error->message, "storage.conf:"), "'%s' names no file", error->message);
        require(stores[0] && n_writable >= 1 && n_writable <= g_strv_length(stores), "%u of %u stores are writable",
                n_writable, g_strv_length(stores));
        for (char **store = stores; *store; store++)
                require_clean(*store);
        if (settings->rootless_path)
                require_clean(settings->rootless_path);
        require(variables || !settings->rootless_path, "root has the users' '%s'", settings->rootless_path);
        store_settings_free(settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char *const variables[] = { "HOME=/home/../home/alice", "USER=", "UID=1", NULL };
        g_autofree char *text = fuzz_text(data, size);

        read_as(data, size, text, NULL);
        read_as(data, size, text, variables);
        return 0;
}
