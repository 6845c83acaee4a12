/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/mask-links.h"
#include "libstart/mount/masks.h"
#include "libstart/mount/mount-tree.h"

/* All by descriptor: each path is resolved once, as the container would resolve it, and what is mounted on it cannot
 * be another file than what was looked at. Mounts are made read-only before they are attached.
 *
 * The threat: a root directory may be another container's volume, and that renames in it what it likes, /proc too,
 * while we are at work. A mask whose path leads into another directory for that moment finds nothing to hide, and the
 * container has a /proc without masks, in which it can name a program for the host to run (like CVE-2025-31133). So
 * what lies in /proc and /sys is looked up in the kernel's file systems themselves, or the start fails. What lies in
 * another mount is looked up in that one, as a volume of others may have the directory on which it is; and by its
 * path, too, as a link of the image's may have led another mount onto that one. */

/* What lies on masked paths: the first of each kind, once it is attached, or -1. The others are clones of it, with
 * its flags. A tmpfs for each directory would be a super block and a shrinker each, for every container (a fourth of
 * a start's mounts). */
typedef struct Covers {
        int file;
        int directory;
        const MountLabel *label;
} Covers;

static void covers_close(Covers *covers) {
        fd_closep(&covers->file);
        fd_closep(&covers->directory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Covers, covers_close)

/* -1 with ENOENT where there is nothing to hide. */
static int open_path(int root_fd, const char *path, guint64 resolve) {
        return resolve_open(root_fd, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve);
}

typedef struct KernelDirectory {
        const char *path, *type;
        __fsword_t magic;
        bool is_wanted; /* the container's is the kernel's, and no mount of the user's */
        int fd;         /* -1: not opened yet */
} KernelDirectory;

enum { N_KERNEL_DIRECTORIES = 2 };

typedef struct Places {
        MaskLinks links; /* and the root, and the mounts in it */
        KernelDirectory kernel[N_KERNEL_DIRECTORIES];
} Places;

static void places_close(Places *places) {
        for (size_t i = 0; i < N_KERNEL_DIRECTORIES; i++)
                fd_closep(&places->kernel[i].fd);
        mask_links_clear(&places->links);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Places, places_close)

/* The last mount on a path is the one that is seen. */
static bool is_kernels(const runtime_spec_schema_config_schema *spec, const KernelDirectory *directory) {
        bool found = false;

        for (size_t i = 0; i < spec->mounts_len; i++)
                if (g_str_equal(spec->mounts[i]->destination, directory->path))
                        found = g_strcmp0(spec->mounts[i]->type, directory->type) == 0;
        return found;
}

static Places find_places(int root_fd, const runtime_spec_schema_config_schema *spec, const MountPlan *mounts,
                          bool is_root_shared) {
        Places places = {
                .links = { .root = root_fd, .mounts = mounts, .is_root_shared = is_root_shared },
                .kernel = { { "/proc", "proc", PROC_SUPER_MAGIC, false, -1 },
                            { "/sys", "sysfs", SYSFS_MAGIC, false, -1 } },
        };

        for (size_t i = 0; i < N_KERNEL_DIRECTORIES; i++)
                places.kernel[i].is_wanted = is_kernels(spec, &places.kernel[i]);
        return places;
}

static bool open_kernel_directory(int root_fd, KernelDirectory *directory, GError **error) {
        struct statfs fs;

        if (directory->fd >= 0)
                return true;
        directory->fd = open_path(root_fd, directory->path, RESOLVE_NO_SYMLINKS);
        return (directory->fd >= 0 && fstatfs(directory->fd, &fs) == 0 && fs.f_type == directory->magic) ||
               error_set(error, KT_ERROR_FAILED,
                         "The container's '%s' is not what was mounted there: its root directory is being changed",
                         directory->path);
}

/* The deepest that `path` is in, or NULL. */
static const ContainerMount *find_mount(const MountPlan *plan, const char *path) {
        const ContainerMount *found = NULL;

        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i];

                if (path_value_covers(mount->oci->destination, path) &&
                    (!found || strlen(mount->oci->destination) > strlen(found->oci->destination)))
                        found = mount;
        }
        return found;
}

static const ContainerMount *find_masked_mount(const Places *places, const char *path) {
        const ContainerMount *mount = find_mount(places->links.mounts, path);

        return mount && mount->is_masked && mount->fd >= 0 ? mount : NULL;
}

/* Not where a mount of the user's lies in it: links in that are followed from the container's root. Nor where a
 * hook's path leaves it by "..", which a user cannot say. */
static KernelDirectory *find_kernel_directory(Places *places, const char *path) {
        for (size_t i = 0; i < N_KERNEL_DIRECTORIES; i++) {
                KernelDirectory *directory = &places->kernel[i];

                if (directory->is_wanted && path_value_covers(directory->path, path) &&
                    path[strlen(directory->path)] && !strstr(path, "..") && !find_masked_mount(places, path))
                        return directory;
        }
        return NULL;
}

/* A link in a mount may lead out of it, and is then whoever's who writes there. */
static int open_in_mount(const Places *places, const char *path) {
        const ContainerMount *mount = find_masked_mount(places, path);
        const char *rest;
        int fd;

        if (!mount)
                return open_path(places->links.root, path, 0);
        rest = path + strlen(mount->oci->destination);
        if (!*rest)
                return fcntl(mount->fd, F_DUPFD_CLOEXEC, 0);
        fd = open_path(mount->fd, rest, RESOLVE_NO_SYMLINKS);
        return fd < 0 && errno == ELOOP ? open_path(places->links.root, path, 0) : fd;
}

/* Before anything is masked: that may be such a directory itself. */
static bool open_kernel_directories(Places *places, char *const *paths, size_t n, GError **error) {
        for (size_t i = 0; i < n; i++) {
                KernelDirectory *kernel = find_kernel_directory(places, paths[i]);

                if (kernel && !open_kernel_directory(places->links.root, kernel, error))
                        return false;
        }
        return true;
}

/* -1, with errno, for what cannot be opened. */
static int find_place(const Places *places, const KernelDirectory *kernel, const char *path) {
        return kernel ? open_path(kernel->fd, path + strlen(kernel->path), 0) : open_in_mount(places, path);
}

/* Private, too: where a volume is shared with the host, a clone would stay a peer of what it is cloned from, and what
 * the container mounts on its mask (with CAP_SYS_ADMIN) would lie on the host's /dev/null. */
static bool set_attributes(int mount, guint64 set, guint64 clear, unsigned int flags) {
        struct mount_attr attr = { .attr_set = set, .attr_clr = clear, .propagation = MS_PRIVATE };

        return syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | flags, &attr, sizeof attr) == 0;
}

static int make_empty_directory(const MountLabel *label) {
        _cleanup_close_ int fs = (int) syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);

        if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "size", "0k", 0) < 0 ||
            !mount_label_configure(label, fs) || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -1;
        return (int) syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
}

/* The host's /dev/null, as an image may have another idea of it: whoever may read the file finds nothing in it,
 * instead of an error. Read-only, so that nobody changes the mode of the host's device. */
static int make_empty_file(const MountLabel *label) {
        _cleanup_close_ int mount = (int) syscall(SYS_open_tree, AT_FDCWD, "/dev/null",
                                                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

        /* EPERM: in a user namespace no flag of a mount of the host's can be taken away. */
        if (mount < 0 || (!set_attributes(mount, MOUNT_ATTR_RDONLY, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID, 0) &&
                          (errno != EPERM || !set_attributes(mount, MOUNT_ATTR_RDONLY, 0, 0))))
                return -1;
        return fd_steal(&mount);
}

static bool cover(int *first, int (*make)(const MountLabel *label), const MountLabel *label, int target) {
        if (*first < 0) {
                *first = make(label);
                return mount_tree_put(*first, target);
        }

        _cleanup_close_ int mount = mount_tree_clone(*first, 0);
        return mount_tree_put(mount, target);
}

static bool hide(int target, const char *path, Covers *covers, GError **error) {
        const MountLabel *label = covers->label;
        struct stat st;

        if (target < 0 && errno == ENOENT)
                return true;
        if (target < 0 || fstat(target, &st) < 0 ||
            !(S_ISDIR(st.st_mode) ? cover(&covers->directory, make_empty_directory, label, target) :
                                    cover(&covers->file, make_empty_file, label, target)))
                return error_set_errno(error, errno, "Cannot mask the container's '%s'", path);
        return true;
}

static bool mask(Places *places, const char *path, Covers *covers, GError **error) {
        const KernelDirectory *kernel = find_kernel_directory(places, path);
        _cleanup_close_ int target = -1, seen = -1;

        if (!kernel && !mask_links_check(&places->links, path, error))
                return false;
        target = find_place(places, kernel, path);
        if (!hide(target, path, covers, error))
                return false;
        if (kernel || !find_masked_mount(places, path))
                return true;
        seen = open_path(places->links.root, path, 0);
        return (seen >= 0 && (fd_is_same_file(seen, covers->file) || fd_is_same_file(seen, covers->directory))) ||
               hide(seen, path, covers, error);
}

static bool make_read_only(Places *places, const char *path, GError **error) {
        _cleanup_close_ int target = find_place(places, find_kernel_directory(places, path), path), mount = -1;

        if (target < 0 && errno == ENOENT)
                return true;
        mount = target < 0 ? -1 : mount_tree_clone(target, AT_RECURSIVE);
        if (mount < 0 || !set_attributes(mount, MOUNT_ATTR_RDONLY, 0, AT_RECURSIVE) || !mount_tree_put(mount, target))
                return error_set_errno(error, errno, "Cannot make the container's '%s' read-only", path);
        return true;
}

bool masks_make(int root_fd, const runtime_spec_schema_config_schema *spec, const MountPlan *mounts,
                bool is_root_shared, const MountLabel *label, GError **error) {
        const runtime_spec_schema_config_linux *linux_ = spec->linux;
        g_auto(Covers) covers = { -1, -1, label };
        g_auto(Places) places = find_places(root_fd, spec, mounts, is_root_shared);

        if (!open_kernel_directories(&places, linux_->masked_paths, linux_->masked_paths_len, error) ||
            !open_kernel_directories(&places, linux_->readonly_paths, linux_->readonly_paths_len, error))
                return false;
        for (size_t i = 0; i < linux_->masked_paths_len; i++)
                if (!mask(&places, linux_->masked_paths[i], &covers, error))
                        return false;
        for (size_t i = 0; i < linux_->readonly_paths_len; i++)
                if (!make_read_only(&places, linux_->readonly_paths[i], error))
                        return false;
        return true;
}
