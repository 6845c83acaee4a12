/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/seccomp/seccomp.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/seccomp/build.h"
#include "libstart/seccomp/cache-file.h"

void seccomp_origin_clear(SeccompOrigin *origin) {
        g_clear_pointer(&origin->why, g_free);
}

/* For the next start. That this one has its filter is what counts: /run may be full or read-only. */
static void keep(const char *root, const SeccompCacheKey *key, const SeccompBuild *build) {
        g_autofree char *dir = g_strconcat(root, PATH_SECCOMP, NULL);
        g_autoptr(GError) error = NULL;

        if (build->keepable && !seccomp_cache_write(dir, key->name, build->entry, &error))
                log_debug("The seccomp filter is not kept: %s", error->message);
}

GBytes *seccomp_filter_for(const char *root, const char *profile, guint64 bounding_caps, SeccompOrigin *ret_origin,
                           GError **error) {
        SeccompTarget target = seccomp_target_here(bounding_caps);
        g_auto(SeccompBuild) build = { 0 };
        g_autoptr(GError) doubt = NULL;
        SeccompCacheKey key;

        seccomp_cache_key_init(&key, profile, &target);
        g_autoptr(SeccompCacheEntry) entry = seccomp_find(root, &key, &doubt);
        if (entry) {
                *ret_origin = (SeccompOrigin) { 0 };
                return g_bytes_ref(entry->filter);
        }
        if (!seccomp_build(root, &key, &build, error))
                return NULL;
        keep(root, &key, &build);
        *ret_origin = (SeccompOrigin) {
                .compiled = !build.from_image,
                .damaged = !g_error_matches(doubt, KT_ERROR, KT_ERROR_NOT_FOUND),
                .why = g_strdup(doubt->message),
        };
        return g_bytes_ref(build.entry->filter);
}
