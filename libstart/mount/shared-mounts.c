/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/root-file.h"
#include "libstart/mount/shared-mounts.h"

static bool is_taken(const MountPlan *plan, int root_fd, const ContainerMount *mount) {
        bool found = fd_is_same_file(mount->target, root_fd);

        for (guint i = 0; i < plan->n_mounts && plan->mounts[i] != mount; i++)
                found |= plan->mounts[i]->target >= 0 && fd_is_same_file(mount->target, plan->mounts[i]->target);
        return found;
}

/* The source is cloned later: by then what the host mounts in there has come. It tells a file from a directory. */
static bool open_target(const MountPlan *plan, const BindMountContext *context, ContainerMount *mount,
                        GError **error) {
        _cleanup_close_ int source = mount->fd < 0 ? bind_mount_open_source(context, mount, error) : -1;

        if (mount->fd < 0 && source < 0)
                return false;
        mount->target = root_file_open_mount_point(context->root_fd, mount->oci->destination + 1,
                                                   mount->fd < 0 ? source : mount->fd, error);
        if (mount->target < 0)
                return false;
        /* On the same place they would lie one in the other. */
        return !is_taken(plan, context->root_fd, mount) ||
               error_set(error, KT_ERROR_FAILED,
                         "Cannot mount on the container's '%s': a link in it leads to the root, or to another mount "
                         "that is shared with the host; name the path without links",
                         mount->oci->destination);
}

bool shared_mounts_open(MountPlan *plan, const BindMountContext *context, GError **error) {
        for (guint i = 0; i < plan->n_mounts; i++)
                if (mount_plan_is_shared(plan->mounts[i]) && !open_target(plan, context, plan->mounts[i], error))
                        return false;
        return true;
}

static bool is_mount_point(int root_fd, const char *path) {
        _cleanup_close_ int fd = resolve_open(root_fd, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        struct statx st;

        return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, 0, &st) == 0 && st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* What a link had led to where something shared has come since is hidden. */
static bool check_none_hidden(const MountPlan *plan, int root_fd, GError **error) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                const char *destination = plan->mounts[i]->oci->destination;

                if (!is_mount_point(root_fd, destination))
                        return error_set(error, KT_ERROR_FAILED,
                                         "What was mounted on the container's '%s' is hidden: a link in the image or "
                                         "in a volume leads there, or to what lies on it now, as what is shared with "
                                         "the host is mounted last; name the paths of mounts without links",
                                         destination);
        }
        return true;
}

static bool make(const BindMountContext *context, ContainerMount *mount, GError **error) {
        if (mount->fd < 0)
                mount->fd = bind_mount_clone(context, mount, error);
        if (mount->fd < 0)
                return false;
        return mount_tree_put(mount->fd, mount->target) ||
               error_set_errno(error, errno, "Cannot mount '%s' on the container's '%s'", mount->oci->source,
                               mount->oci->destination);
}

bool shared_mounts_make(MountPlan *plan, const BindMountContext *context, const char *cwd, GError **error) {
        if (!mount_plan_find_shared(plan))
                return true;
        for (guint i = 0; i < plan->n_mounts; i++)
                if (mount_plan_is_shared(plan->mounts[i]) && !make(context, plan->mounts[i], error))
                        return false;
        (void) !root_file_make_directory(context->root_fd, cwd, 0, 0, NULL);
        return check_none_hidden(plan, context->root_fd, error);
}
