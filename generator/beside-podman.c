/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "generator/beside-podman.h"
#include "libstart/base/fd.h"

bool beside_podman_is_ours(const SourceFile *source) {
        return source->unit && unit_file_section(source->unit, "Keyturn");
}

char *beside_podman_reason(const Container *container) {
        const GPtrArray *findings = container_findings(container);

        /* Its network is another one, and much is not there yet. */
        if (container->is_users)
                return g_strdup_printf("%s: a user's file without a section [Keyturn]", container->source->path);
        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->is_problem || finding->is_difference)
                        return g_strdup(finding->text);
        }
        if (service_user_line(container->service, "UMask") && !container_line(container, "Container", "Umask"))
                return g_strdup_printf("%s: UMask= of [Service] is not the payload's for Podman",
                                       container->source->path);
        if (container->args->dynamic_user == FLAG_TRUE)
                return g_strdup_printf("%s: DynamicUser= of [Service] is who runs podman, which cannot",
                                       container->source->path);
        if (container->args->owner)
                return g_strdup_printf("%s: User= of [Service] is who runs podman, with an image store of its own",
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
