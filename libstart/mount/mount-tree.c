/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/mount-tree.h"

/* Where the mount that holds `path` begins; NULL with errno. It is asked, and not tried which directory can be made a
 * slave: who is told in vain that one is no mount point would take the mount above, and leave this one shared. Where
 * there is no such directory, as in a chroot(2), the path becomes too long. */
static char *find_mount_point(const char *path) {
        g_autoptr(GString) directory = g_string_new(path);
        struct statx st;

        for (;;) {
                if (statx(AT_FDCWD, directory->str, AT_NO_AUTOMOUNT, 0, &st) < 0)
                        return NULL;
                if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
                        return g_strdup(directory->str);
                g_string_append(directory, "/..");
        }
}

/* A new mount namespace still shares its mounts with the host's: cut the way back first, or the host would get the
 * root as well. Only for the mount that holds it: a volume that asks for "rshared" is to go on sharing. MS_SLAVE and
 * not MS_PRIVATE, so that volumes from the same mount still see what the host mounts later. */
bool mount_tree_separate(const char *path, GError **error) {
        g_autofree char *mount_point = find_mount_point(path);

        if (!mount_point)
                return error_set_errno(error, errno, "Cannot find the mount that '%s' is on", path);
        return mount(NULL, mount_point, NULL, MS_SLAVE, NULL) == 0 ||
               error_set_errno(error, errno, "Cannot separate the container's mounts from the host's");
}

static bool separate_all(GError **error) {
        return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
               error_set_errno(error, errno, "Cannot separate the container's mounts from the host's");
}

bool mount_tree_begin(const char *path, bool share_rest, GError **error) {
        return share_rest ? mount_tree_separate(path, error) : separate_all(error);
}

static bool set_propagation(const char *path, unsigned long propagation) {
        return mount(NULL, path, NULL, propagation, NULL) == 0;
}

/* The directory is mounted on itself, once. EINVAL: it is not yet. What is unbindable cannot be copied, but what lies
 * on it can, if that is named. */
bool mount_tree_leave_out(const char *directory, const char *kept, GError **error) {
        return ((set_propagation(directory, MS_PRIVATE) ||
                 (errno == EINVAL && mount(directory, directory, NULL, MS_BIND, NULL) == 0)) &&
                (!kept || mount(kept, kept, NULL, MS_BIND, NULL) == 0) &&
                set_propagation(directory, MS_UNBINDABLE)) ||
               error_set_errno(error, errno, "Cannot leave '%s' out of the container's volumes", directory);
}

int mount_tree_clone(int source, unsigned flags) {
        return (int) syscall(SYS_open_tree, source, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);
}

bool mount_tree_put(int mount, int target) {
        return mount >= 0 &&
               syscall(SYS_move_mount, mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

bool mount_tree_attach(int mount, const char *path, GError **error) {
        return syscall(SYS_move_mount, mount, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "Cannot mount on '%s'", path);
}

bool mount_tree_attach_all(const DetachedMount *mounts, size_t n, GError **error) {
        for (size_t i = 0; i < n; i++)
                if (mounts[i].mount >= 0 && !mount_tree_attach(mounts[i].mount, mounts[i].path, error))
                        return false;
        return true;
}

/* The file system has been nodev from its first mount on; libcrun's remounts forget it. */
bool mount_tree_end(int root_fd, bool read_only, GError **error) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NODEV | (read_only ? MOUNT_ATTR_RDONLY : 0) };

        return syscall(SYS_mount_setattr, root_fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0 ||
               error_set_errno(error, errno, "Cannot restrict the container's root");
}

/* umount2(2) takes the uppermost mount. That need not be the old root: where the host has something mounted over its
 * "/", processes are below it, and so is the old root, which would stay on top of the new one. So until nothing is
 * left. Of that umount2(2) is not believed: an EINVAL that were wrong would leave the payload the host's root. What
 * lies on the new root is entered by "/..", which is then another mount (EXDEV). Else it is a directory, which nobody
 * opens for writing (EISDIR): no descriptor, and as many calls as with a last umount2(2). */
static bool detach_old_root(void) {
        while (umount2(".", MNT_DETACH) == 0)
                if (resolve_open(AT_FDCWD, "/..", O_WRONLY, 0, RESOLVE_NO_XDEV) < 0 && errno != EXDEV)
                        return errno == EISDIR;
        return false;
}

/* With "." twice, pivot_root(2) puts the old root on top of the new one. */
bool mount_tree_enter(int root_fd, GError **error) {
        _cleanup_close_ int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        return (old >= 0 && fchdir(root_fd) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && fchdir(old) == 0 &&
                detach_old_root() && chdir("/") == 0) ||
               error_set_errno(error, errno, "Cannot make the container's root its '/'");
}
