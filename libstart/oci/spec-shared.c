/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/oci/spec-parts.h"

typedef runtime_spec_schema_defs_mount Mount;

typedef enum Propagation {
        PROPAGATION_INHERITED, /* of what the mount lies on */
        PROPAGATION_SHARED,
        PROPAGATION_OWN,
} Propagation;

static Propagation find_propagation(const Mount *mount) {
        static const char *const shared[] = { "shared", "rshared", NULL };
        static const char *const own[] = {
                "private", "rprivate", "slave", "rslave", "unbindable", "runbindable", NULL
        };

        for (size_t i = 0; i < mount->options_len; i++) {
                /* The host has no part in a tmpfs but by what that lies on. */
                if (g_strv_contains(shared, mount->options[i]))
                        return g_strcmp0(mount->type, "bind") == 0 ? PROPAGATION_SHARED : PROPAGATION_INHERITED;
                if (g_strv_contains(own, mount->options[i]))
                        return PROPAGATION_OWN;
        }
        return PROPAGATION_INHERITED;
}

/* The innermost mount that the path is on, and that does not leave it to the one below. */
static const Mount *find_deciding(Mount *const *mounts, size_t length, const char *path) {
        const Mount *found = NULL;

        for (size_t i = 0; i < length; i++)
                if (path_value_covers(mounts[i]->destination, path) &&
                    find_propagation(mounts[i]) != PROPAGATION_INHERITED &&
                    (!found || path_value_covers(found->destination, mounts[i]->destination)))
                        found = mounts[i];
        return found;
}

bool spec_check_not_shared(Mount *const *mounts, size_t length, const char *path, const char *what, GError **error) {
        g_autofree char *clean = path_value_clean(path);
        const Mount *mount = find_deciding(mounts, length, clean);

        return !mount || find_propagation(mount) != PROPAGATION_SHARED ||
               error_set(
                       error, KT_ERROR_USAGE,
                       "%s '%s': the mount on '%s' shares what is mounted in it with the host, where this would be "
                       "mounted, too, and stay: give that mount private or slave propagation (rprivate, rslave), or "
                       "choose another path",
                       what, path, mount->destination);
}
