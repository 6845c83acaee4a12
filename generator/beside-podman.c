/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <unistd.h>

#include "generator/beside-podman.h"
#include "libstart/base/fd.h"

/* systemd looks for generators there in this order, and the first of a name counts. */
static const char *const generator_directories[] = {
        "/run/systemd/system-generators",
        "/etc/systemd/system-generators",
        "/usr/local/lib/systemd/system-generators",
        "/usr/lib/systemd/system-generators",
};

#define PODMAN_GENERATOR "podman-system-generator"

/* Empty and device: masked. Not executable: systemd does not run it. */
static bool is_runnable(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_mode & 0111;
}

bool beside_podman_is_active(const Tree *tree) {
        for (size_t i = 0; i < G_N_ELEMENTS(generator_directories); i++) {
                _cleanup_close_ int directory_fd = tree_open_path(tree, generator_directories[i],
                                                                  O_PATH | O_DIRECTORY);
                _cleanup_close_ int fd = -1;

                if (directory_fd < 0)
                        continue;
                if (tree_is_null_link(directory_fd, PODMAN_GENERATOR))
                        return false;
                fd = tree_open_at(tree, directory_fd, generator_directories[i], PODMAN_GENERATOR, true, O_PATH);
                if (fd >= 0)
                        return is_runnable(fd);
        }
        return false;
}

bool beside_podman_is_ours(const SourceFile *source) {
        return source->unit && unit_file_section(source->unit, "Keyturn");
}

char *beside_podman_reason(const Container *container) {
        const GPtrArray *findings = container_findings(container);

        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->is_problem || finding->is_difference)
                        return g_strdup(finding->text);
        }
        if (service_user_line(container->service, "UMask") && !container_line(container, "Container", "Umask"))
                return g_strdup_printf("%s: UMask= of [Service] is not the payload's for Podman",
                                       container->source->path);
        if (!container->has_network)
                return g_strdup_printf("%s: Network= is not set, which is a bridge for Podman",
                                       container->source->path);
        return NULL;
}

char *beside_podman_override(const Tree *tree, const char *service) {
        static const char *const directories[] = { "/etc/systemd/system", "/run/systemd/system" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], service, NULL);
                _cleanup_close_ int fd = tree_open_path(tree, path, O_PATH | O_NOFOLLOW);

                if (fd >= 0)
                        return g_steal_pointer(&path);
        }
        return NULL;
}
