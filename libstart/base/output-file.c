/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/output-file.h"

/* A link of the caller's own may be replaced; /dev/stdout and the like are everybody's, and lead into /proc. */
static bool is_stream(const char *path) {
        g_autofree char *target = g_file_read_link(path, NULL);

        return target && g_str_has_prefix(target, "/proc/");
}

bool output_file_check(const char *path, GError **error) {
        g_autofree char *directory = g_path_get_dirname(path);
        struct stat st;

        if (!path[0] || is_stream(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no file that could be replaced", path);
        return access(directory, W_OK) == 0 || error_set_errno(error, errno, "Cannot write '%s'", path);
}

/* GLib's message is of a file that the caller never named. */
bool output_file_write(const char *path, const char *text, GError **error) {
        g_autoptr(GError) failed = NULL;
        const char *reason;

        if (!output_file_check(path, error))
                return false;
        if (g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0644, &failed))
                return true;
        reason = strrchr(failed->message, ':');
        return error_set(error, KT_ERROR_FAILED, "Cannot write '%s'%s", path, reason ?: "");
}
