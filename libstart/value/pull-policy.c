/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/pull-policy.h"
#include "libstart/base/error.h"

bool pull_policy_check(const char *value, GError **error) {
        static const char *const policies[] = { "always", "missing", "never", "newer", NULL };

        return g_strv_contains(policies, value) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is none of missing, newer, always and never", value);
}
