/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/seccomp/seccomp.h"
#include "libstart/base/error.h"
#include "libstart/seccomp/filter.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/seccomp/profile-path.h"

void seccomp_origin_clear(SeccompOrigin *origin) {
        g_clear_pointer(&origin->why, g_free);
}

static GBytes *compile(const char *root, const char *path, guint64 bounding_caps, GError **error) {
        g_autoptr(SeccompProfile) profile = seccomp_profile_load(root, path, error);
        GBytes *filter = NULL;

        if (profile && !(filter = seccomp_filter_compile(profile, bounding_caps, error)))
                g_prefix_error(error, "seccomp profile '%s': ", path);
        return filter;
}

GBytes *seccomp_filter_for(const char *root, const char *profile, guint64 bounding_caps,
                           SeccompOrigin *ret_origin, GError **error) {
        g_autofree char *path = profile ? g_strdup(profile) : seccomp_default_profile_path(root, error);
        GBytes *filter = path ? compile(root, path, bounding_caps, error) : NULL;

        if (filter)
                *ret_origin = (SeccompOrigin){ .compiled = true,
                                               .why = g_strdup("filters are not precompiled") };
        return filter;
}
