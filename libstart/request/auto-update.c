/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/auto-update.h"
#include "libstart/base/error.h"
#include "libstart/request/launch-args.h"

static const char *const off[] = { "", "disabled", "none", NULL };

bool auto_update_check(const char *policy, GError **error) {
        static const char *const policies[] = { "image", "local", "registry", NULL };

        return g_strv_contains(off, policy) || g_strv_contains(policies, policy) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is none of registry, local and disabled", policy);
}

const char *auto_update_find(const GPtrArray *labels) {
        const char *policy = launch_args_last(labels, AUTO_UPDATE_LABEL);

        return policy && !g_strv_contains(off, policy) ? policy : NULL;
}
