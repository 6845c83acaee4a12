/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/mounts.h"
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

static bool is_on_one_of(const GPtrArray *mounts, const char *path) {
        for (guint i = 0; i < mounts->len; i++)
                if (mount_covers(mounts->pdata[i], path))
                        return true;
        return false;
}

bool mounts_put_last(const ContainerRequest *request, runtime_spec_schema_defs_mount **mounts, size_t length,
                     size_t n, size_t *ret_last, GError **error) {
        g_autoptr(GPtrArray) last = g_ptr_array_new();
        size_t kept = n;

        for (size_t i = n; i < length; i++) {
                bool covered = is_on_one_of(last, mounts[i]->destination);

                if (covered && !bind_mount_is_private(mounts[i]))
                        return error_set(
                                error, KT_ERROR_UNSUPPORTED,
                                "Cannot mount on the container's '%s': above it is an overlay (O), an image or "
                                "a subpath, which is mounted last; choose another place for one of the two",
                                mounts[i]->destination);
                if (covered || bind_mount_is_special(request, mounts[i]))
                        g_ptr_array_add(last, mounts[i]);
                else
                        mounts[kept++] = mounts[i];
        }
        if (last->len > 0)
                memcpy(mounts + kept, last->pdata, last->len * sizeof *mounts);
        *ret_last = last->len;
        return true;
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
                               kernel_mount_make(context->root_fd, mount, &context->label, error);
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
