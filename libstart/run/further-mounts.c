/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/run/further-mounts.h"
#include "libstart/run/kernel-mounts.h"
#include "libstart/run/root-file.h"

/* What is in the image can be looked at before libcrun follows it, also as the contents of /proc would be copied into a
 * tmpfs on it; but what a volume brings only afterwards. */
static bool check_destination(const runtime_spec_schema_defs_mount *mount, int root_fd, GError **error) {
        return root_file_check_mount_point(root_fd, mount->destination + 1, error);
}

static bool open_source(FurtherMounts *further, runtime_spec_schema_defs_mount *mount,
                        const BindMountContext *context, GError **error) {
        int fd;

        if (g_strcmp0(mount->type, "bind") != 0 ||
            (context->prepared && g_str_has_prefix(mount->source, "/proc/self/fd/"))) /* prepared-mounts.c */
                return true;
        fd = bind_mount_open_source(context, mount, error);
        if (fd < 0)
                return false;
        g_array_append_val(further->sources, fd);
        g_free(mount->source);
        mount->source = g_strdup_printf("/proc/self/fd/%d", fd);
        return true;
}

bool further_mounts_prepare(FurtherMounts *further, runtime_spec_schema_config_schema *spec, size_t first,
                            size_t last, const BindMountContext *context, GError **error) {
        further->devices = kernel_mounts_devices(context->root_fd, spec->mounts, first);
        further->sources = g_array_new(FALSE, FALSE, sizeof(int));
        for (size_t i = first; i < spec->mounts_len - last; i++)
                if (!check_destination(spec->mounts[i], context->root_fd, error) ||
                    !open_source(further, spec->mounts[i], context, error))
                        return false;
        return true;
}

bool further_mounts_check(FurtherMounts *further, const runtime_spec_schema_config_schema *spec, size_t first,
                          int root_fd, GError **error) {
        bool result = kernel_mounts_check(root_fd, spec->mounts, first, further->devices, error);

        for (guint i = 0; i < further->sources->len; i++)
                close(g_array_index(further->sources, int, i));
        g_clear_pointer(&further->sources, g_array_unref);
        g_clear_pointer(&further->devices, g_free);
        return result;
}
