/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "generator/files/podman-generator.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"

/* systemd looks for generators there in this order, and the first of a name counts. */
static const char *const above[] = { "/run/systemd", "/etc/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd" };

/* Empty and device: masked. Not executable: systemd does not run it. */
static bool is_runnable(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_mode & 0111;
}

bool podman_generator_is_active(const Tree *tree, bool is_users) {
        const char *name = is_users ? "podman-user-generator" : "podman-system-generator";

        for (size_t i = 0; i < G_N_ELEMENTS(above); i++) {
                g_autofree char *directory = g_strconcat(above[i],
                                                         is_users ? "/user-generators" : "/system-generators", NULL);
                _cleanup_close_ int directory_fd = tree_open_path(tree, directory, O_PATH | O_DIRECTORY), fd = -1;

                if (directory_fd < 0 && errno != ENOENT && errno != ENOTDIR)
                        log_warning("%s: cannot be read: %s; a mask of Podman's generator there is not seen",
                                    directory, g_strerror(errno));
                if (directory_fd < 0)
                        continue;
                if (tree_is_null_link(directory_fd, name))
                        return false;
                fd = tree_open_at(tree, directory_fd, directory, name, true, O_PATH);
                if (fd >= 0)
                        return is_runnable(fd);
        }
        return false;
}
