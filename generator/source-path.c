/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/source-path.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/option/mount-request.h"

char *source_path_escape(const char *text, const char *special) {
        GString *escaped = g_string_new(NULL);
        size_t length;

        for (; text[length = strcspn(text, special)]; text += length + 1) {
                g_string_append_len(escaped, text, (gssize) length + 1);
                g_string_append_c(escaped, text[length]);
        }
        g_string_append(escaped, text);
        return g_string_free(escaped, FALSE);
}

/* Of these, systemd makes absolute paths. */
static bool is_absolute(const char *path) {
        return path[0] == '/' || (path[0] == '%' && path[1] && strchr("CdEhLStTV", path[1]));
}

char *source_path_for_mounts(const char *path) {
        size_t length = strcspn(path, "$");

        if (!is_absolute(path))
                return NULL;
        if (!path[length])
                return g_strdup(path);
        while (length > 0 && path[length - 1] != '/')
                length--;
        return length > 1 ? g_strndup(path, length) : NULL;
}

/* Takes ownership of path. */
static void add_source(Container *container, char *path, bool writable) {
        MountSource source = { path, writable };

        g_array_append_val(container->sources, source);
}

/* SOURCE:DESTINATION[:OPTION,...], which has been checked unless systemd is to complete it: no need to parse it
 * again. */
static bool volume_is_read_only(const char *volume) {
        const char *options = strchr(volume, ':');

        options = options ? strchr(options + 1, ':') : NULL;
        for (; options && options[0]; options += strcspn(options, ",")) {
                options++;
                if (strcspn(options, ",") == strlen("ro") && g_str_has_prefix(options, "ro"))
                        return true;
        }
        return false;
}

static void add_mount(Container *container, const char *mount) {
        g_autoptr(MountRequest) request = mount_request_parse_mount(mount, NULL);
        char *source = mount_request_find_source(mount) ?: request ? g_strdup(request->source) : NULL;

        if (request && request->type == MOUNT_GLOB) { /* what it matches is below */
                char *end = source + strcspn(source, "*?[\\");

                while (end > source && *end != '/')
                        end--;
                *(end == source ? end + 1 : end) = '\0';
        }
        if (source) /* a tmpfs has none */
                add_source(container, source, !request || !mount_request_has_option(request, "ro"));
}

void source_paths_find(Container *container) {
        const LaunchArgs *args = container->args;
        const char *rootfs = container->rootfs;

        if (rootfs)
                add_source(container, g_strndup(rootfs, strcspn(rootfs, ":")),
                           args->read_only != FLAG_TRUE && !strchr(rootfs, ':'));
        for (guint i = 0; i < args->volumes->len; i++) {
                const char *volume = args->volumes->pdata[i];

                if (strchr(volume, ':')) /* else it is a destination, of an anonymous volume */
                        add_source(container, g_strndup(volume, strcspn(volume, ":")), !volume_is_read_only(volume));
        }
        for (guint i = 0; i < args->mounts->len; i++)
                add_mount(container, args->mounts->pdata[i]);
}
