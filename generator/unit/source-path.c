/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/source-path.h"

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
