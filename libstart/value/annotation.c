/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/annotation.h"

bool annotation_is_reserved(const char *text) {
        return g_str_has_prefix(text, "run.oci.") || g_str_has_prefix(text, "org.systemd.property.") ||
               g_str_has_prefix(text, "module.wasm.");
}

bool annotation_check(const char *value, GError **error) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value)
                return error_set(error, KT_ERROR_USAGE, "'%s': the form is KEY=VALUE", value);
        if (annotation_is_reserved(value))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "annotation '%.*s' is not supported: it changes how the container is run; use the "
                                 "key of [Container] that does this, if there is one",
                                 (int) (equals - value), value);
        return true;
}
