/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "libstart/base/error.h"
#include "libstart/seccomp/profile-path.h"
#include "libstart/seccomp/sources.h"

/* Times of files move in the kernel's ticks, up to 10 ms long. */
#define SETTLED_NS (20 * G_GINT64_CONSTANT(1000000))

static gint64 nanoseconds(const struct timespec *t) {
        return (gint64) t->tv_sec * 1000000000 + t->tv_nsec;
}

static bool add_file(GChecksum *checksum, const char *root, const char *name, gint64 now, bool *settled,
                     GError **error) {
        g_autofree char *path = g_strconcat(root, name, NULL);
        guint64 state[6] = { 0 };
        struct stat st;

        g_checksum_update(checksum, (const guchar *) name, (gssize) strlen(name) + 1);
        if (stat(path, &st) == 0) {
                gint64 changed = nanoseconds(&st.st_ctim);

                state[0] = 1;
                state[1] = st.st_dev;
                state[2] = st.st_ino;
                state[3] = (guint64) st.st_size;
                state[4] = (guint64) nanoseconds(&st.st_mtim);
                state[5] = (guint64) changed;
                if (changed <= now && now - changed < SETTLED_NS)
                        *settled = false;
        } else if (errno != ENOENT && errno != ENOTDIR)
                return error_set_errno(error, errno, "cannot look at '%s'", name);
        g_checksum_update(checksum, (const guchar *) state, sizeof state);
        return true;
}

bool seccomp_sources_find(const char *root, const char *profile, const char *path, SeccompSources *ret,
                          GError **error) {
        g_autoptr(GPtrArray) names = profile ? g_ptr_array_new() : seccomp_default_profile_sources(root, error);
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        SeccompSources sources = { .settled = true };
        gsize size = sizeof sources.digest;
        struct timespec now;

        if (!names)
                return false;
        clock_gettime(CLOCK_REALTIME, &now);
        for (guint i = 0; i < names->len; i++)
                if (!add_file(checksum, root, names->pdata[i], nanoseconds(&now), &sources.settled, error))
                        return false;
        if (!add_file(checksum, root, path, nanoseconds(&now), &sources.settled, error))
                return false;
        g_checksum_get_digest(checksum, sources.digest, &size);
        *ret = sources;
        return true;
}
