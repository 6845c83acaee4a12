/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/option/mount-request.h"

bool mount_request_check_volume_source(const char *source, GError **error) {
        if (source[0] == '\0')
                return error_set(error, KT_ERROR_USAGE, "the source before the first ':' is missing");
        if (source[0] == '.')
                return error_set(error, KT_ERROR_USAGE, "source '%s' is relative: write an absolute path", source);
        if (source[0] != '/')
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' is a named volume, which needs Podman's storage: name a directory of the "
                                 "host instead, e.g. /var/lib/%s (in a .container file also ./%s, beside it)",
                                 source, source, source);
        return true;
}

/* What --volume and --tmpfs have in common: parts between colons. */

static bool read_volume(MountRequest *request, const char *value, char *const *parts, guint n, GError **error) {
        if (n == 0 || n > 3)
                return error_set(error, KT_ERROR_USAGE, "the form is SOURCE:DESTINATION[:OPTIONS]");
        if (n == 1)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "an anonymous volume needs Podman's storage: name a directory of the host "
                                 "(SOURCE:DESTINATION), or use Tmpfs=%s for data that may be lost",
                                 value);
        return mount_request_check_volume_source(parts[0], error) &&
               mount_request_set_source(request, parts[0], error) &&
               mount_request_set_destination(request, parts[1], error) &&
               (n == 2 || mount_request_add_options(request, parts[2], error));
}

static bool read_tmpfs(MountRequest *request, const char *value, char *const *parts, guint n, GError **error) {
        if (n == 0 || n > 2)
                return error_set(error, KT_ERROR_USAGE, "the form is DESTINATION[:OPTIONS]");
        return mount_request_set_destination(request, parts[0], error) &&
               (n == 1 || mount_request_add_options(request, parts[1], error));
}

static MountRequest *parse(MountType type, const char *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ":", -1);
        g_autoptr(MountRequest) request = mount_request_new(type);
        bool is_tmpfs = type == MOUNT_TMPFS;

        if (!(is_tmpfs ? read_tmpfs : read_volume)(request, value, parts, g_strv_length(parts), error)) {
                g_prefix_error(error, "%s '%s': ", is_tmpfs ? "tmpfs" : "volume", value);
                return NULL;
        }
        mount_request_complete(request);
        return g_steal_pointer(&request);
}

MountRequest *mount_request_parse_volume(const char *value, GError **error) {
        return parse(MOUNT_BIND, value, error);
}

MountRequest *mount_request_parse_tmpfs(const char *value, GError **error) {
        return parse(MOUNT_TMPFS, value, error);
}
