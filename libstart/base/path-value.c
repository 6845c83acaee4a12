/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"

bool path_value_check(const char *path, GError **error) {
        if (path[0] == '\0')
                return error_set(error, KT_ERROR_USAGE, "the path is empty");
        if (path[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an absolute path", path);
        return true;
}

char *path_value_clean(const char *path) {
        /* GLib keeps two leading slashes, which POSIX gives a meaning that Linux does not have. */
        while (path[0] == '/' && path[1] == '/')
                path++;
        return g_canonicalize_filename(path, "/");
}

bool path_value_covers(const char *above, const char *path) {
        size_t length = strlen(above);

        return strncmp(path, above, length) == 0 && (!path[length] || path[length] == '/');
}

bool path_value_is_of_kernel(const char *path) {
        return path_value_covers("/proc", path) || path_value_covers("/sys", path) || path_value_covers("/dev", path);
}

bool path_value_is_name(const char *text) {
        for (const char *c = text; *c; c++)
                if (*c == '/' || g_ascii_iscntrl(*c))
                        return false;
        return *text && !g_str_equal(text, ".") && !g_str_equal(text, "..");
}
