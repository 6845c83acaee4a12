/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/source-path.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/option/mount-request.h"

/* In the directory of a file, % and $ are plain characters; in what the user wrote, systemd expands them. */
static char *escape(const char *text, const char *special) {
        GString *escaped = g_string_new(NULL);
        size_t length;

        for (; text[length = strcspn(text, special)]; text += length + 1) {
                g_string_append_len(escaped, text, (gssize) length + 1);
                g_string_append_c(escaped, text[length]);
        }
        g_string_append(escaped, text);
        return g_string_free(escaped, FALSE);
}

char *source_path_escape_specifiers(const char *text) {
        return escape(text, "%");
}

char *source_path_resolve(const char *unit_path, const char *path) {
        g_autofree char *directory = NULL, *escaped = NULL, *joined = NULL;

        if (path[0] == '/' || (path[0] == '%' && path[1] != '%'))
                return g_strdup(path);
        directory = g_path_get_dirname(unit_path);
        escaped = escape(directory, "%$");
        joined = g_build_filename(escaped, path, NULL);
        return path_value_clean(joined);
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
static void add_source(Container *container, char *path, bool writable, bool is_implied) {
        MountSource source = { path, writable, is_implied };

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
        char *source = mount_request_find_source(mount);
        bool is_implied = !source && request && request->source; /* else a tmpfs has none */

        if (source || is_implied)
                add_source(container, is_implied ? g_strdup(request->source) : source,
                           !request || !mount_request_has_option(request, "ro"), is_implied);
}

void source_paths_find(Container *container) {
        const LaunchArgs *args = container->args;
        const char *rootfs = container->rootfs;

        if (rootfs)
                add_source(container, g_strndup(rootfs, strcspn(rootfs, ":")),
                           args->read_only != FLAG_TRUE && !strchr(rootfs, ':'), false);
        for (guint i = 0; i < args->volumes->len; i++) {
                const char *volume = args->volumes->pdata[i];

                add_source(container, g_strndup(volume, strcspn(volume, ":")), !volume_is_read_only(volume), false);
        }
        for (guint i = 0; i < args->mounts->len; i++)
                add_mount(container, args->mounts->pdata[i]);
}

/* In systemd's EnvironmentFile= a leading '-' allows the file to be missing. For Podman it would be part of the
 * name. */
bool handle_environment_file(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *path = NULL;

        if (value->text[0] == '-')
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': a '-' in front is systemd's, not Quadlet's; for a file that may be missing, "
                                 "use EnvironmentFile= in [Service] and EnvironmentHost=true",
                                 value->text);
        path = source_path_resolve(container->source->path, value->text);
        return key_set_option(container, "env-file", path, error);
}

static bool check_volume_source(const char *source, GError **error) {
        if (source[0] && strchr(".%$", source[0]))
                return true; /* it will be a path */
        if (source[0] != '/' && g_str_has_suffix(source, ".volume"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': keyturn makes no volumes; name a directory of the host instead", source);
        return mount_request_check_volume_source(source, error);
}

bool handle_volume(Container *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, ":");
        g_autofree char *source = g_strndup(value->text, length), *path = NULL, *resolved = NULL;

        if (value->text[length] && !check_volume_source(source, error))
                return false;
        if (value->text[0] != '.' || value->text[length] == '\0')
                return key_set_option(container, "volume", value->text, error);
        path = source_path_resolve(container->source->path, source);
        resolved = g_strconcat(path, value->text + length, NULL);
        return key_set_option(container, "volume", resolved, error);
}

bool handle_mount(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *source = mount_request_find_source(value->text), *path = NULL, *resolved = NULL;

        if (!source || source[0] != '.')
                return key_set_option(container, "mount", value->text, error);
        path = source_path_resolve(container->source->path, source);
        resolved = mount_request_replace_source(value->text, path);
        return key_set_option(container, "mount", resolved, error);
}
