/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/seccomp/cache-file.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/obtain.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/seccomp/sources.h"

void seccomp_build_clear(SeccompBuild *build) {
        g_clear_pointer(&build->entry, seccomp_cache_entry_free);
}

void seccomp_origin_clear(SeccompOrigin *origin) {
        g_clear_pointer(&origin->why, g_free);
}

SeccompCacheEntry *seccomp_find(const char *root, const SeccompCacheKey *key, GError **error) {
        g_autofree char *dir = g_strconcat(root, PATH_SECCOMP, NULL);
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_read(dir, key->name, error);
        SeccompSources now;

        if (!entry)
                return NULL;
        if (!seccomp_cache_check_key(entry, key, error) ||
            !seccomp_sources_find(root, key->profile, entry->path, &now, error)) {
                g_prefix_error(error, "'%s/%s': ", PATH_SECCOMP, key->name);
                return NULL;
        }
        if (memcmp(now.digest, entry->sources, sizeof now.digest) != 0) {
                error_set(error, KT_ERROR_FAILED, "'%s' or a file that could name another profile has changed since",
                          entry->path);
                return NULL;
        }
        return g_steal_pointer(&entry);
}

static void digest_text(GBytes *text, guint8 ret[SECCOMP_DIGEST_SIZE]) {
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        gsize size = SECCOMP_DIGEST_SIZE, length;
        const void *data = g_bytes_get_data(text, &length);

        g_checksum_update(checksum, data, (gssize) length);
        g_checksum_get_digest(checksum, ret, &size);
}

/* A filter of the image that cannot be used is no error: one is compiled instead. */
static SeccompCacheEntry *find_in_image(const char *root, const SeccompCacheKey *key, const char *path,
                                        const guint8 content[SECCOMP_DIGEST_SIZE]) {
        g_autofree char *dir = g_strconcat(root, PATH_SECCOMP_LIB, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_read(dir, key->name, &error);

        if (!entry || !seccomp_cache_check_key(entry, key, &error)) {
                log_debug("No filter from the image: %s", error->message);
                return NULL;
        }
        if (memcmp(entry->content, content, SECCOMP_DIGEST_SIZE) != 0) {
                log_debug("The image's filter is of another text than '%s'", path);
                return NULL;
        }
        g_free(entry->path);
        entry->path = g_strdup(path);
        return g_steal_pointer(&entry);
}

static SeccompCacheEntry *compile(const SeccompCacheKey *key, const char *path, GBytes *text, GError **error) {
        g_autoptr(SeccompCacheEntry) entry = g_new0(SeccompCacheEntry, 1);
        g_autoptr(SeccompProfile)
                profile = seccomp_profile_parse(g_bytes_get_data(text, NULL), g_bytes_get_size(text), error);

        if (profile)
                entry->filter = seccomp_filter_compile(profile, &key->target, error);
        if (!entry->filter) {
                g_prefix_error(error, "seccomp profile '%s': ", path);
                return NULL;
        }
        entry->arch = key->target.arch;
        entry->bounding_caps = key->target.bounding_caps;
        entry->kernel = profile->asks_kernel ? key->target.kernel : 0;
        entry->path = g_strdup(path);
        memcpy(entry->key, key->digest, sizeof entry->key);
        return g_steal_pointer(&entry);
}

/* The state of the sources is taken before and after they are read: only if both are equal does it describe what was
 * read. */
bool seccomp_build(const char *root, const SeccompCacheKey *key, SeccompBuild *ret, GError **error) {
        g_autofree char *path = key->profile ? g_strdup(key->profile) : seccomp_default_profile_path(root, error);
        SeccompSources before, after;
        SeccompBuild build = { 0 };
        guint8 content[SECCOMP_DIGEST_SIZE];

        if (!path)
                return false;
        bool known = seccomp_sources_find(root, key->profile, path, &before, NULL);
        g_autoptr(GBytes) text = seccomp_profile_read(root, path, error);
        if (!text)
                return false;
        digest_text(text, content);
        build.entry = find_in_image(root, key, path, content);
        build.from_image = build.entry;
        if (!build.entry && !(build.entry = compile(key, path, text, error)))
                return false;
        known = known && seccomp_sources_find(root, key->profile, path, &after, NULL) &&
                memcmp(before.digest, after.digest, sizeof before.digest) == 0;
        build.keepable = known && before.settled;
        memcpy(build.entry->content, content, sizeof content);
        if (build.keepable)
                memcpy(build.entry->sources, before.digest, sizeof before.digest);
        else
                memset(build.entry->sources, 0, sizeof build.entry->sources);
        *ret = build;
        return true;
}

/* For the next start. This one has its filter, and goes on where /run is full or read-only. */
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
