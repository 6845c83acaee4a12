/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/option/namespace-option.h"

bool namespace_option_parse(const char *value, const char **ret_path, GError **error) {
        *ret_path = strncmp(value, "ns:", strlen("ns:")) == 0 ? value + strlen("ns:") : NULL;
        if (*ret_path)
                return path_value_check(*ret_path, error);
        return g_str_equal(value, "") || g_str_equal(value, "private") || g_str_equal(value, "shareable") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': containers have a namespace of their own (private), or share that of their pod "
                         "(Pod=NAME.pod)",
                         value);
}
