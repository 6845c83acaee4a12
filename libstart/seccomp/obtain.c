/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/seccomp/cache-file.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/obtain.h"
#include "libstart/seccomp/profile-file.h"

/* Times of files move in the kernel's ticks, up to 10 ms long. */
#define SETTLED_NS (20 * G_GINT64_CONSTANT(1000000))

/* The state of every file whose change could change a container's profile, without reading any of them:
 * the profile, and for the default one also the files that could name another. Which file a path leads
 * to, its size, and when it was last written and last changed in any way (ctime, which nobody can set
 * back): two equal states are the same text. The numbers mean nothing in another boot or on another
 * machine. */
typedef struct Sources {
        guint8 digest[SECCOMP_DIGEST_SIZE];
        bool settled; /* nothing has changed within the resolution of the file system's clock */
} Sources;

static bool add_file(GChecksum *checksum, const char *root, const char *name, gint64 now, bool *settled,
                     GError **error) {
        g_autofree char *path = g_strconcat(root, name, NULL);
        FileIdentity state;

        if (!file_identify(path, &state))
                return error_set_errno(error, errno, "Cannot look at '%s'", name);
        if (state.ctime <= now && now - state.ctime < SETTLED_NS)
                *settled = false;
        g_checksum_update(checksum, (const guchar *) name, (gssize) strlen(name) + 1);
        g_checksum_update(checksum, (const guchar *) &state, sizeof state);
        return true;
}

/* profile: as asked for, NULL for the default one. path: the profile that this leads to. Both inside of root. Fails
 * where a file's state cannot be told; one that is not there is a state. */
static bool find_sources(const char *root, const char *profile, const char *path, Sources *ret, GError **error) {
        g_autoptr(GPtrArray) names = profile ? g_ptr_array_new() : seccomp_default_profile_sources(root, error);
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        Sources sources = { .settled = true };
        gsize size = sizeof sources.digest;
        gint64 now = 1000 * (g_get_real_time() + 1); /* rounded up */

        if (!names)
                return false;
        for (guint i = 0; i < names->len; i++)
                if (!add_file(checksum, root, names->pdata[i], now, &sources.settled, error))
                        return false;
        if (!add_file(checksum, root, path, now, &sources.settled, error))
                return false;
        g_checksum_get_digest(checksum, sources.digest, &size);
        *ret = sources;
        return true;
}

void seccomp_build_clear(SeccompBuild *build) {
        g_clear_pointer(&build->entry, seccomp_cache_entry_free);
}

void seccomp_origin_clear(SeccompOrigin *origin) {
        g_clear_pointer(&origin->why, g_free);
}

SeccompCacheEntry *seccomp_find(const char *root, const SeccompCacheKey *key, GError **error) {
        g_autofree char *dir = g_strconcat(root, PATH_SECCOMP, NULL);
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_read(dir, key->name, error);
        Sources now;

        if (!entry)
                return NULL;
        if (!seccomp_cache_check_key(entry, key, error) ||
            !find_sources(root, key->profile, entry->path, &now, error))
                return error_prefix_null(error, "'%s/%s': ", PATH_SECCOMP, key->name);
        if (memcmp(now.digest, entry->header.sources, sizeof now.digest) != 0)
                return error_null(error, KT_ERROR_FAILED,
                                  "'%s' or a file that could name another profile has changed since", entry->path);
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
        if (memcmp(entry->header.content, content, SECCOMP_DIGEST_SIZE) != 0) {
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
        if (!entry->filter)
                return error_prefix_null(error, "seccomp profile '%s': ", path);
        entry->header.arch = key->target.arch;
        entry->header.bounding_caps = key->target.bounding_caps;
        entry->header.kernel = profile->asks_kernel ? key->target.kernel : 0;
        entry->path = g_strdup(path);
        memcpy(entry->header.key, key->digest, sizeof entry->header.key);
        return g_steal_pointer(&entry);
}

/* The state of the sources is taken before and after they are read: only if both are equal does it describe what was
 * read. */
bool seccomp_build(const char *root, const SeccompCacheKey *key, SeccompBuild *ret, GError **error) {
        g_autofree char *path = key->profile ? g_strdup(key->profile) : seccomp_default_profile_path(root, error);
        Sources before, after;
        SeccompBuild build = { 0 };
        guint8 content[SECCOMP_DIGEST_SIZE];

        if (!path)
                return false;
        bool known = find_sources(root, key->profile, path, &before, NULL);
        g_autoptr(GBytes) text = seccomp_profile_read(root, path, error);
        if (!text)
                return false;
        digest_text(text, content);
        build.entry = find_in_image(root, key, path, content);
        build.from_image = build.entry;
        if (!build.entry && !(build.entry = compile(key, path, text, error)))
                return false;
        known = known && find_sources(root, key->profile, path, &after, NULL) &&
                memcmp(before.digest, after.digest, sizeof before.digest) == 0;
        build.keepable = known && before.settled;
        memcpy(build.entry->header.content, content, sizeof content);
        if (build.keepable)
                memcpy(build.entry->header.sources, before.digest, sizeof before.digest);
        else
                memset(build.entry->header.sources, 0, sizeof build.entry->header.sources);
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
