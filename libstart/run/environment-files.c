/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/mount/host-path.h"
#include "libstart/run/environment-files.h"

static char *read_file(const char *path, const HostAccess *access, GError **error) {
        g_autofree char *content = NULL;
        g_autoptr(GError) problem = NULL;
        gsize length;

        if (host_path_read(path, access, &content, &length, &problem)) {
                if (strlen(content) == length)
                        return g_steal_pointer(&content);
                error_set(error, KT_ERROR_FAILED, "EnvironmentFile=%s (--env-file): there is a NUL byte in the file",
                          path);
        } else if (g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                error_set(error, KT_ERROR_NOT_FOUND,
                          "EnvironmentFile=%s (--env-file): the file is not there: create it, or remove the line",
                          path);
        } else {
                error_set(error, KT_ERROR_FAILED, "EnvironmentFile=%s (--env-file): %s", path, problem->message);
        }
        return NULL;
}

static bool read_files(const ContainerRequest *request, EnvironmentFiles *files, GError **error) {
        const GPtrArray *paths = request->env_files;

        files->contents = g_new0(char *, paths->len + 1);
        for (guint i = 0; i < paths->len; i++) {
                files->contents[i] = read_file(paths->pdata[i], &request->host_access, error);
                if (!files->contents[i])
                        return false;
                g_ptr_array_add(files->owned, files->contents[i]);
        }
        return true;
}

static bool read_list(const ContainerRequest *request, EnvironmentFiles *files, GError **error) {
        if (!request->env_list)
                return true;
        if (!generated_file_read(request->env_list, &files->list, &files->list_length, error))
                return error_prefix(error, "The container's environment: ");
        g_ptr_array_add(files->owned, files->list);
        return true;
}

bool environment_files_read(const ContainerRequest *request, EnvironmentFiles *ret, GError **error) {
        ret->owned = g_ptr_array_new_with_free_func(g_free);
        return read_files(request, ret, error) && read_list(request, ret, error);
}

void environment_files_clear(EnvironmentFiles *files) {
        g_clear_pointer(&files->owned, g_ptr_array_unref);
        g_clear_pointer(&files->contents, g_free);
}
