/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/handlers.h"
#include "generator/source-path.h"
#include "libstart/base/error.h"

/* `-` as systemd's EnvironmentFile= has it would be part of the name for Podman. */
bool handle_environment_file(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *path = NULL;

        if (value->text[0] == '-')
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': a '-' in front is systemd's, not Quadlet's; for a file that may be missing, "
                                 "use EnvironmentFile= in [Service] and EnvironmentHost=true",
                                 value->text);
        path = source_path_resolve(container->source->path, value->text);
        return launch_args_set(container->args, "env-file", path, error);
}

/* A name that is no path is a volume of Podman's, whatever specifiers are behind it. */
static bool check_is_path(const char *volume, GError **error) {
        size_t length = strcspn(volume, ":");

        if (strchr("/.%$", volume[0]) || volume[length] == '\0')
                return true; /* or is for the real parser to tell */
        if (length > strlen(".volume") && strncmp(volume + length - strlen(".volume"), ".volume", 7) == 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%.*s': keyturn makes no volumes; name a directory of the host instead",
                                 (int) length, volume);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%.*s' is a named volume, which needs Podman's storage; name a directory of the host "
                         "instead, e.g. /var/lib/%.*s (or ./%.*s, beside this file)",
                         (int) length, volume, (int) length, volume, (int) length, volume);
}

bool handle_volume(Container *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, ":");
        Value resolved = { NULL, value->line };
        g_autofree char *source = NULL, *path = NULL, *text = NULL;

        if (!check_is_path(value->text, error))
                return false;
        if (value->text[0] != '.' || value->text[length] == '\0')
                return set_option(container, &(Key) { .text = "volume" }, value, error);
        source = g_strndup(value->text, length);
        path = source_path_resolve(container->source->path, source);
        resolved.text = text = g_strconcat(path, value->text + length, NULL);
        return set_option(container, &(Key) { .text = "volume" }, &resolved, error);
}

bool handle_mount(Container *container, const Key *key, const Value *value, GError **error) {
        Value resolved = { NULL, value->line };
        g_autofree char *source = NULL, *path = NULL, *text = NULL;
        size_t start, length;

        if (!source_path_in_mount(value->text, &start, &length) || value->text[start] != '.')
                return set_option(container, &(Key) { .text = "mount" }, value, error);
        source = g_strndup(value->text + start, length);
        path = source_path_resolve(container->source->path, source);
        if (strpbrk(path, ",\""))
                return error_set(error, KT_ERROR_USAGE, "'%s': commas and quotes do not work in a relative source",
                                 path);
        resolved.text = text = g_strdup_printf("%.*s%s%s", (int) start, value->text, path,
                                               value->text + start + length);
        return set_option(container, &(Key) { .text = "mount" }, &resolved, error);
}
