/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/manifest.h"
#include "tests/fuzz/fuzz.h"

/* As store/image.c takes the history out: what is left is a configuration with the same layers. */
static void check_without_history(const char *data, size_t size, TextRange history, char *const *diff_ids) {
        g_autoptr(GString) rest = g_string_new_len(data, (gssize) size);
        g_autoptr(GError) error = NULL;
        TextRange nothing;

        require(history.begin <= history.end && history.end <= size, "a history from %zu to %zu of %zu",
                history.begin, history.end, size);
        g_string_erase(rest, (gssize) history.begin, (gssize) (history.end - history.begin));
        g_auto(GStrv) again = config_parse_diff_ids(rest->str, rest->len, &nothing, &error);
        require(again, "without its history: %s", error->message);
        require_same(diff_ids, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        TextRange history = { 0 };
        g_auto(GStrv) diff_ids = config_parse_diff_ids((const char *) data, size, &history, &error);

        require_error(diff_ids, error, text);
        if (!diff_ids)
                return 0;
        require(*diff_ids, "no layers, and no error");
        g_auto(GStrv) ids = layer_chain_ids(diff_ids);
        require(g_strv_length(ids) == g_strv_length(diff_ids), "not as many ids as layers");
        for (guint i = 0; ids[i]; i++)
                require(digest_is_valid(diff_ids[i]) && id_is_valid(ids[i]), "'%s' is no id", ids[i]);
        check_without_history((const char *) data, size, history, diff_ids);
        return 0;
}
