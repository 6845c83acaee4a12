/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/run/mounts.h"
#include "libstart/base/path-value.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/root-file.h"

size_t mounts_count(runtime_spec_schema_defs_mount *const *mounts, size_t length, bool cgroup2) {
        size_t n = 0;

        while (n < length && (kernel_mount_is_known(mounts[n], cgroup2) || bind_mount_is_private(mounts[n])))
                n++;
        return n;
}

bool mounts_have_dev(runtime_spec_schema_defs_mount *const *mounts, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (g_str_equal(mounts[i]->destination, "/dev"))
                        return g_strcmp0(mounts[i]->type, "tmpfs") == 0;
        return false;
}

bool mount_covers(const runtime_spec_schema_defs_mount *mount, const char *path) {
        return path_value_covers(mount->destination, path);
}

static bool make(const BindMountContext *context, runtime_spec_schema_defs_mount *mount, int prepared, bool bind,
                 GError **error) {
        if (bind)
                return prepared >= 0 ? bind_mount_attach(context, mount, prepared, error) :
                                       bind_mount_make(context, mount, error);
        return prepared >= 0 ? kernel_mount_attach(context->root_fd, mount, prepared, error) :
                               kernel_mount_make(context->root_fd, mount, error);
}

bool mounts_make(const BindMountContext *context, runtime_spec_schema_defs_mount *const *mounts, size_t n,
                 const char *cwd, GError **error) {
        bool hidden = false;

        for (size_t i = 0; i < n; i++) {
                bool bind = bind_mount_is_private(mounts[i]);

                if (!make(context, mounts[i], context->prepared ? context->prepared[i] : -1, bind, error))
                        return false;
                hidden |= bind && mount_covers(mounts[i], cwd);
        }
        if (hidden)
                (void) !root_file_make_directory(context->root_fd, cwd, 0, 0, NULL);
        return true;
}
