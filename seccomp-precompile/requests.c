/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/request/seccomp-request.h"
#include "seccomp-precompile/requests.h"

/* Beside Podman keyturn-generator writes into the early directory, else into the normal one. The last one is that of
 * what was made when the system image was built. */
static const char *const directories[] = { "/run/systemd/generator.early", "/run/systemd/generator",
                                           KEYTURN_UNITDIR };

GPtrArray *requests_load_file(const char *path, GError **error) {
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return NULL;
        if (!text)
                return error_null_errno(error, ENOENT, "Cannot open '%s'", path);
        return seccomp_requests_parse_dropin(text, error) ?: error_prefix_null(error, "'%s': ", path);
}

GPtrArray *requests_load(const char *root, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_strconcat(root, directories[i], "/" SECCOMP_REQUEST_DROPIN, NULL);
                g_autoptr(GError) problem = NULL;
                GPtrArray *requests = requests_load_file(path, &problem);

                if (requests)
                        return requests;
                if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                        g_propagate_error(error, g_steal_pointer(&problem));
                        return NULL;
                }
        }
        return g_ptr_array_new_with_free_func((GDestroyNotify) seccomp_request_free);
}
