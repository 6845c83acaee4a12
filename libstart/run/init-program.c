/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/run/init-program.h"

/* Podman's helper_binaries_dir, and what it has of $PATH. */
static const char *const places[] = {
        "/usr/local/libexec/podman",
        "/usr/local/lib/podman",
        "/usr/libexec/podman",
        "/usr/lib/podman",
        "/usr/local/bin",
        "/usr/bin",
        NULL,
};

char *init_program_find(const ContainerRequest *request, GError **error) {
        if (request->init_path)
                return g_strdup(request->init_path);
        for (size_t i = 0; places[i]; i++) {
                g_autofree char *path = g_build_filename(places[i], "catatonit", NULL);

                if (access(path, X_OK) == 0)
                        return g_steal_pointer(&path);
        }
        error_set(error, KT_ERROR_NOT_FOUND,
                  "There is no catatonit on this machine, which is to be the payload's init: install the package "
                  "'catatonit', or name another program with PodmanArgs=--init-path=");
        return NULL;
}
