/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/source-path.h"
#include "libstart/base/path-value.h"

/* The directory of a unit file is meant as it is; what the user wrote may hold specifiers and variables. */
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

bool source_path_in_mount(const char *mount, size_t *ret_start, size_t *ret_length) {
        for (const char *field = mount; *field;) {
                bool quoted = *field == '"';
                const char *text = field + quoted, *value = NULL;
                size_t length = quoted ? strcspn(text, "\"") : strcspn(text, ",");

                if (g_str_has_prefix(text, "source="))
                        value = text + strlen("source=");
                else if (g_str_has_prefix(text, "src="))
                        value = text + strlen("src=");
                if (value) {
                        *ret_start = (size_t) (value - mount);
                        *ret_length = (size_t) (text + length - value);
                        return true;
                }
                field = text + length;
                field += strcspn(field, ",");
                field += *field == ',';
        }
        return false;
}

/* Of these, systemd makes absolute paths. */
static bool is_absolute(const char *path, size_t length) {
        if (length == 0)
                return false;
        return path[0] == '/' || (path[0] == '%' && length > 1 && strchr("CdEhLStTV", path[1]));
}

char *source_path_for_mounts(const char *path, size_t length) {
        const char *variable = memchr(path, '$', length);

        if (!is_absolute(path, length))
                return NULL;
        if (!variable)
                return g_strndup(path, length);
        while (variable > path && variable[-1] != '/')
                variable--;
        return variable - path > 1 ? g_strndup(path, (size_t) (variable - path)) : NULL;
}
