/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/bind-mounts.h"
#include "libstart/mount/kernel-mounts.h"
#include "libstart/mount/mask-links.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/mounts.h"
#include "libstart/mount/root-file.h"
#include "libstart/program-start/program-mounts.h"
#include "libstart/userns/user-namespace.h"

/* Slaves, so that volumes that want it see what the host mounts later, and the host sees nothing. */
static bool separate(GError **error) {
        return (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0) ||
               error_set_errno(error, errno, "Cannot separate the container's mounts from the host's");
}

static bool attach_root(const RuntimeContainer *container, GError **error) {
        const DetachedMount mounts[] = {
                { container->layer_mount, container->layer_place },
                { container->root_mount, container->spec->root->path },
                { container->secrets_mount, container->secrets_place },
        };

        return mounts_leave_root_out(container->mounts, container->spec->root->path, error) &&
               mount_tree_attach_all(mounts, G_N_ELEMENTS(mounts), error);
}

/* For mount points only; the root of a user namespace has to pass. */
static bool make_directory(const char *path, GError **error) {
        return ((mkdir(path, 0711) == 0 || errno == EEXIST) &&
                mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711,size=1m") == 0) ||
               error_set_errno(error, errno, "Cannot make '%s'", path);
}

static bool make_mount_point(const char *path, int mount, GError **error) {
        _cleanup_close_ int fd = -1;
        struct stat st;

        if (fstat(mount, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at a mount");
        if (S_ISDIR(st.st_mode) && mkdir(path, 0700) == 0)
                return true;
        if (!S_ISDIR(st.st_mode))
                fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return fd >= 0 || error_set_errno(error, errno, "Cannot make '%s'", path);
}

static bool has_propagation(const ContainerMount *mount) {
        return mount->flags & (MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE);
}

/* Its options stay: they are OCI's, and say of the copy what they said of the source. */
static bool hand_over(int fd, ContainerMount *mount, const char *path, GError **error) {
        if (!make_mount_point(path, fd, error) || !mount_tree_attach(fd, path, error))
                return false;
        g_free(mount->oci->source);
        mount->oci->source = g_strdup(path);
        g_free(mount->oci->type);
        mount->oci->type = g_strdup("bind");
        oci_mount_add_option(mount->oci, mount->flags & MS_REC ? "rbind" : "bind");
        if (!has_propagation(mount))
                oci_mount_add_option(mount->oci, "rprivate");
        return true;
}

/* Who has a user namespace of its own may not mount the /sys of the host's network. */
static bool is_the_hosts(const RuntimeContainer *container, const ContainerMount *mount) {
        return container->userns->uids && container->request->network.mode == NETWORK_HOST && mount->kernel &&
               g_str_equal(mount->oci->destination, "/sys");
}

/* Of the kernel's files another runtime sees to it itself. */
static bool check_masks(const RuntimeContainer *container, int root, GError **error) {
        const runtime_spec_schema_config_linux *linux_ = container->spec->linux;
        g_auto(MaskLinks) links = {
                .root = root,
                .mounts = container->mounts,
                .is_root_shared = container->root_is_shared,
                .is_by_path = true,
        };

        for (size_t i = 0; i < linux_->masked_paths_len; i++)
                if (!path_value_is_of_kernel(linux_->masked_paths[i]) &&
                    !mask_links_check(&links, linux_->masked_paths[i], error))
                        return false;
        return true;
}

/* The runtime goes by paths, and what it has mounted decides where links lead by then. So all but what a tmpfs is
 * below is mounted in a copy of the root as well, in the same order, where links are looked at. */
static int open_copy(const RuntimeContainer *container, const char *path, GError **error) {
        _cleanup_close_ int root = open(container->spec->root->path, O_PATH | O_DIRECTORY | O_CLOEXEC), copy = -1;

        if (root >= 0)
                copy = mount_tree_clone(root, 0);
        if (copy < 0)
                return error_negative_errno(error, errno, "Cannot copy the container's root, '%s'",
                                            container->spec->root->path);
        return make_mount_point(path, copy, error) && mount_tree_attach(copy, path, error) ? fd_steal(&copy) : -1;
}

/* What is not there is made, as the runtime would make it; but in a user namespace that would be of other owners. */
static bool put_into_copy(const RuntimeContainer *container, int copy, const ContainerMount *mount, int fd,
                          GError **error) {
        const UserNamespace *userns = container->userns;
        const char *path = mount->oci->destination + 1;
        _cleanup_close_ int own = mount_tree_clone(fd, AT_RECURSIVE), place = -1;

        if (own < 0)
                return error_set_errno(error, errno, "Cannot copy the mount of '/%s'", path);
        if (userns->uids && !mount->is_first) {
                place = resolve_open(copy, path, O_PATH, 0, RESOLVE_IN_ROOT);
                if (place < 0)
                        return errno == ENOENT ||
                               error_set_errno(error, errno, "Cannot open the container's '/%s'", path);
        } else if ((mount->is_first && !root_file_make_directory(copy, path, user_namespace_uid(userns, 0),
                                                                 user_namespace_gid(userns, 0), error)) ||
                   (place = root_file_open_mount_point(copy, path, fd, error)) < 0)
                return false;
        return mount_tree_put(own, place) ||
               error_set_errno(error, errno, "Cannot mount on the container's '/%s'", path);
}

/* What lies on a tmpfs has its place there, not in the root: the tmpfs is the runtime's to make. */
static bool lies_on_tmpfs(const RuntimeContainer *container, const ContainerMount *mount) {
        for (guint i = 0; i < container->mounts->n_mounts; i++) {
                const ContainerMount *other = container->mounts->mounts[i];

                if (!other->kernel && g_strcmp0(other->oci->type, "tmpfs") == 0 &&
                    path_value_covers(other->oci->destination, mount->oci->destination))
                        return true;
        }
        return false;
}

static bool make_one(const RuntimeContainer *container, const BindMountContext *context, ContainerMount *mount,
                     const char *path, GError **error) {
        bool is_handed = mount->is_bind || is_the_hosts(container, mount);
        _cleanup_close_ int fd = -1;

        if (!root_file_check_mount_point(context->root_fd, mount->oci->destination + 1, error))
                return false;
        if (!is_handed && !mount->is_first)
                return true;
        fd = mount->is_bind ? bind_mount_clone(context, mount, error) :
                              kernel_mount_make_detached(mount, &context->label, error);
        return fd >= 0 &&
               (lies_on_tmpfs(container, mount) || put_into_copy(container, context->root_fd, mount, fd, error)) &&
               (!is_handed || hand_over(fd, mount, path, error));
}

static bool make_all(const RuntimeContainer *container, BindMountContext *context, const char *directory,
                     GError **error) {
        for (guint i = 0; i < container->mounts->n_mounts; i++) {
                ContainerMount *mount = container->mounts->mounts[i];
                g_autofree char *path = g_strdup_printf("%s/%u", directory, i);

                context->is_shared = !(mount->flags & MS_SLAVE);
                if (!make_one(container, context, mount, path, error))
                        return false;
        }
        return true;
}

bool program_mounts_make(const RuntimeContainer *container, const char *directory, GError **error) {
        BindMountContext context = {
                .request = container->request,
                .userns = container->userns,
                .label = container->label,
        };
        g_autofree char *path = g_build_filename(directory, "root", NULL);
        _cleanup_close_ int copy = -1;

        if (!separate(error) || !attach_root(container, error) || !make_directory(directory, error))
                return false;
        copy = context.root_fd = open_copy(container, path, error);
        return copy >= 0 && check_masks(container, copy, error) && make_all(container, &context, directory, error) &&
               (umount2(path, MNT_DETACH) == 0 || error_set_errno(error, errno, "Cannot unmount '%s'", path));
}

void program_mounts_detach(const RuntimeContainer *container, const char *directory) {
        g_autofree char *own = g_path_get_dirname(container->spec->root->path);
        const char *const places[] = { container->secrets_place, container->spec->root->path, container->layer_place,
                                       own };

        /* It is this process's own, if it is there. So the others are not the host's mounts. */
        if (umount2(directory, MNT_DETACH) < 0)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
                if (places[i])
                        (void) umount2(places[i], MNT_DETACH);
}
