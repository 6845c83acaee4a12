/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/seccomp/sources.h"

/* Times of files move in the kernel's ticks, up to 10 ms long. */
#define SETTLED_NS (20 * G_GINT64_CONSTANT(1000000))

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

bool seccomp_sources_find(const char *root, const char *profile, const char *path, SeccompSources *ret,
                          GError **error) {
        g_autoptr(GPtrArray) names = profile ? g_ptr_array_new() : seccomp_default_profile_sources(root, error);
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        SeccompSources sources = { .settled = true };
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
