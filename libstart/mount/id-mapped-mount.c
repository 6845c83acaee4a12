/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/mount/id-mapped-mount.h"

static bool set_attributes(int mount, int userns_fd, guint64 more, const char *path, GError **error) {
        struct mount_attr attributes = {
                .attr_set = MOUNT_ATTR_IDMAP | more,
                .propagation = MS_PRIVATE,
                .userns_fd = (guint64) userns_fd,
        };

        return syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 ||
               error_set_errno(error, errno, "Cannot map the owners of '%s' for the user namespace%s", path,
                               errno == EINVAL ?
                                       " (its file system cannot do that with this kernel: ext4, xfs and btrfs "
                                       "can, tmpfs from Linux 6.3 on, an overlay cannot)" :
                                       "");
}

bool id_mapped_mount_set(int mount, int userns_fd, const char *path, GError **error) {
        return set_attributes(mount, userns_fd, 0, path, error);
}

int id_mapped_mount_clone(const char *path, int userns_fd, GError **error) {
        _cleanup_close_ int mount = (int) syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

        if (mount < 0)
                error_set_errno(error, errno, "Cannot mount '%s'", path);
        else if (set_attributes(mount, userns_fd, MOUNT_ATTR_RDONLY, path, error))
                return fd_steal(&mount);
        return -1;
}
