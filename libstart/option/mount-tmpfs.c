/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/option/mount-request.h"

MountRequest *mount_request_parse_tmpfs(const char *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ":", -1);
        guint n = g_strv_length(parts);
        g_autoptr(MountRequest) request = mount_request_new(MOUNT_TMPFS);
        bool ok;

        if (n == 0 || n > 2)
                ok = error_set(error, KT_ERROR_USAGE, "the form is DESTINATION[:OPTIONS]");
        else
                ok = mount_request_set_destination(request, parts[0], error) &&
                     (n == 1 || mount_request_add_options(request, parts[1], error));
        if (!ok) {
                g_prefix_error(error, "tmpfs '%s': ", value);
                return NULL;
        }
        mount_request_complete(request);
        return g_steal_pointer(&request);
}
