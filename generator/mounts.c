/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/mounts.h"
#include "generator/volumes.h"
#include "libstart/base/error.h"
#include "libstart/option/mount-request.h"

/* The source as libstart reads it: a path, beside the file or absolute, or the name of a volume. Transfer full. */
static char *find_source(Container *container, const char *source, bool *ret_no_copy, GError **error) {
        *ret_no_copy = false;
        if (source[0] == '.')
                return key_resolve_path(container->source->directory, source);
        /* What begins with a specifier or a variable may be either: libstart will see. */
        if (!source[0] || strchr("/%$", source[0]))
                return g_strdup(source);
        return volume_refer(container, source, ret_no_copy, error);
}

bool handle_volume(Container *container, const Key *key, const Value *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value->text, ":", 3);
        g_autofree char *source = NULL, *resolved = NULL;
        bool no_copy;

        if (!parts[0] || !parts[1]) /* an anonymous volume, or a mistake */
                return key_set_option(container, "volume", value->text, error);
        source = find_source(container, parts[0], &no_copy, error);
        if (!source)
                return false;
        resolved = g_strconcat(source, ":", parts[1], parts[2] ? ":" : "", parts[2] ?: "",
                               !no_copy ? "" :
                               parts[2] ? ",nocopy" :
                                          ":nocopy",
                               NULL);
        return key_set_option(container, "volume", resolved, error);
}

static bool is_volume(const char *mount) {
        g_autoptr(MountRequest) request = mount_request_parse_mount(mount, NULL);

        return request && request->type == MOUNT_VOLUME;
}

bool handle_mount(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *given = mount_request_find_source(value->text), *source = NULL, *resolved = NULL,
                        *whole = NULL;
        g_autoptr(MountRequest) bare = given ? NULL : mount_request_parse_mount(value->text, NULL);
        bool no_copy;

        /* `podman run` would take the destination; Podman's generator fails. */
        if (bare && bare->source)
                return error_set(error, KT_ERROR_USAGE,
                                 "'source=' is missing: name the directory or file of the host");
        if (!given || !(given[0] == '.' || is_volume(value->text)))
                return key_set_option(container, "mount", value->text, error);
        source = find_source(container, given, &no_copy, error);
        if (!source)
                return false;
        resolved = mount_request_replace_source(value->text, source);
        whole = g_strconcat(resolved, no_copy ? ",nocopy" : "", NULL);
        return key_set_option(container, "mount", whole, error);
}
