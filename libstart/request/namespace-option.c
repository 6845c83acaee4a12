/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/namespace-option.h"

bool namespace_option_parse(const char *value, NamespaceChoice *ret, GError **error) {
        *ret = (NamespaceChoice) {
                .host = g_str_equal(value, "host"),
                .path = g_str_has_prefix(value, "ns:") ? value + strlen("ns:") : NULL,
        };
        if (ret->path)
                return path_value_check(ret->path, error);
        return ret->host || g_str_equal(value, "") || g_str_equal(value, "private") ||
               g_str_equal(value, "shareable") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': a container has a namespace of its own (private), the machine's (host), or that of "
                         "its pod (Pod=NAME.pod)",
                         value);
}
