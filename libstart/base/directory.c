/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"

bool directory_make(const char *path, mode_t mode, GError **error) {
        bool made = mkdir(path, mode) == 0;

        if (!made && errno == ENOENT) {
                g_autofree char *above = g_path_get_dirname(path);

                if (!directory_make(above, 0755, error))
                        return false;
                made = mkdir(path, mode) == 0;
        }
        /* It is root's, so that nobody has put something else there meanwhile. */
        if (made && chmod(path, mode) < 0) {
                int chmod_errno = errno;

                (void) rmdir(path);
                return error_set_errno(error, chmod_errno, "Cannot make '%s'", path);
        }
        return made || errno == EEXIST || error_set_errno(error, errno, "Cannot make '%s'", path);
}

const char *directory_next(DIR *entries) {
        const struct dirent *entry;

        do {
                errno = 0;
                entry = readdir(entries);
        } while (entry && (g_str_equal(entry->d_name, ".") || g_str_equal(entry->d_name, "..")));
        return entry ? entry->d_name : NULL;
}

static bool read_names(DIR *stream, GStrvBuilder *names) {
        const char *name;

        while ((name = directory_next(stream)))
                g_strv_builder_add(names, name);
        return errno == 0;
}

/* Not by GDir, which tells no error from the end, and whose errors load the locale's character set in a start. */
char **directory_list(const char *path, GError **error) {
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();
        DIR *stream = opendir(path);
        bool is_whole = stream ? read_names(stream, names) : errno == ENOENT || errno == ENOTDIR;

        if (!is_whole)
                error_set_errno(error, errno, "Cannot read '%s'", path);
        if (stream)
                closedir(stream);
        return is_whole ? g_strv_builder_end(names) : NULL;
}
