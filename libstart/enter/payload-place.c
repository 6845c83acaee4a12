/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <glib.h>
#include <linux/nsfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/enter/payload-place.h"

static bool has_user_namespace(const libcrun_container_t *config) {
        const runtime_spec_schema_config_linux *linux_ = config->container_def->linux;

        for (size_t i = 0; i < linux_->namespaces_len; i++)
                if (strcmp(linux_->namespaces[i]->type, "user") == 0)
                        return true;
        return false;
}

/* A container's is right below the host's. */
bool payload_place_is_kept(pid_t payload, const libcrun_container_t *config) {
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/mnt", (int) payload);
        _cleanup_close_ int mounts = open(path, O_RDONLY | O_CLOEXEC);
        _cleanup_close_ int owner = ioctl(mounts, NS_GET_USERNS);
        _cleanup_close_ int above = has_user_namespace(config) ? ioctl(owner, NS_GET_PARENT) : dup(owner);
        struct stat host, found;

        return stat("/proc/self/ns/user", &host) == 0 && fstat(above, &found) == 0 && found.st_dev == host.st_dev &&
               found.st_ino == host.st_ino;
}
