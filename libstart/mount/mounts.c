/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/kernel-mounts.h"
#include "libstart/mount/mount-tree.h"
#include "libstart/mount/mounts.h"
#include "libstart/mount/root-file.h"

typedef runtime_spec_schema_config_schema Spec;

/*
 * Before there is a container
 */

static const runtime_spec_schema_defs_linux_namespace_reference *find_network(const Spec *spec) {
        for (size_t i = 0; i < spec->linux->namespaces_len; i++)
                if (g_str_equal(spec->linux->namespaces[i]->type, "network"))
                        return spec->linux->namespaces[i];
        return NULL;
}

/* Who may mount /sys is who has the network namespace that it shows: in a user's view that is the container's user
 * namespace. */
static bool is_the_hosts(const Spec *spec, const ContainerMount *mount) {
        return g_str_equal(mount->oci->destination, "/dev") ||
               (g_str_equal(mount->oci->destination, "/sys") &&
                (!find_network(spec) || (find_network(spec)->path && !user_view_is_entered())));
}

static bool enter_network(const char *path, GError **error) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

        return (fd >= 0 && setns(fd, CLONE_NEWNET) == 0) ||
               error_set_errno(error, errno, "Cannot enter the network namespace '%s'", path);
}

/* /sys shows the network namespace of who mounts it. */
static int make_in_network(const char *network, const ContainerMount *mount, const MountLabel *label,
                           GError **error) {
        _cleanup_close_ int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
        int fd;

        if (own < 0)
                return error_negative_errno(error, errno, "Cannot open the host's network namespace");
        if (!enter_network(network, error))
                return -1;
        fd = kernel_mount_make_detached(mount, label, error);
        if (setns(own, CLONE_NEWNET) == 0)
                return fd;
        if (fd >= 0) {
                close(fd);
                error_set_errno(error, errno, "Cannot return to the host's network namespace");
        }
        return -1;
}

static int make_kernel_mount(const Spec *spec, const ContainerMount *mount, const MountLabel *label,
                             const UserNamespace *userns, GError **error) {
        const char *network = g_str_equal(mount->oci->destination, "/sys") && find_network(spec) ?
                                      find_network(spec)->path :
                                      NULL;
        int fd = -1;

        if (user_namespace_make_files_for_root(userns, error))
                fd = network ? make_in_network(network, mount, label, error) :
                               kernel_mount_make_detached(mount, label, error);
        user_namespace_make_own_files(userns);
        return fd;
}

static bool prepare_own(const Spec *spec, ContainerMount *mount, const BindMountContext *context, const char *own,
                        GError **error) {
        if (mount->maker == MAKER_KERNEL ? !is_the_hosts(spec, mount) : path_value_covers(own, mount->oci->source))
                return true;
        mount->fd = mount->maker == MAKER_KERNEL ?
                            make_kernel_mount(spec, mount, &context->label, context->userns, error) :
                            bind_mount_clone(context, mount, error);
        return mount->fd >= 0;
}

static bool open_for_libcrun(ContainerMount *mount, const BindMountContext *context, GError **error) {
        mount->fd = bind_mount_open_source(context, mount, error);
        if (mount->fd < 0)
                return false;
        g_free(mount->oci->source);
        mount->oci->source = g_strdup_printf("/proc/self/fd/%d", mount->fd);
        return true;
}

static bool prepare_for_libcrun(ContainerMount *mount, const BindMountContext *context, const char *own,
                                GError **error) {
        if (mount->request && mount->request->id_map)
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "Cannot mount '%s' on the container's '%s' with 'idmap': a tmpfs, or a mount with slave "
                        "propagation, has a shorter path, and such come first; mount it at a shorter path",
                        mount->oci->source, mount->oci->destination);
        return !mount->is_bind || path_value_covers(own, mount->oci->source) ||
               open_for_libcrun(mount, context, error);
}

static bool covers_any(const char *directory, char *const *paths, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (path_value_covers(directory, paths[i]))
                        return true;
        return false;
}

static bool is_masked(const runtime_spec_schema_config_linux *linux_, const char *destination) {
        return covers_any(destination, linux_->masked_paths, linux_->masked_paths_len) ||
               covers_any(destination, linux_->readonly_paths, linux_->readonly_paths_len);
}

bool mounts_prepare(MountPlan *plan, const Spec *spec, const BindMountContext *context, GError **error) {
        g_autofree char *own = g_path_get_dirname(spec->root->path);

        for (guint i = 0; i < plan->n_mounts; i++) {
                ContainerMount *mount = plan->mounts[i];

                mount->is_masked = mount->maker != MAKER_KERNEL && is_masked(spec->linux, mount->oci->destination);
                if (!context->userns->uids && !(mount->request && mount->request->id_map))
                        continue;
                if (!(mount->maker == MAKER_LIBCRUN ? prepare_for_libcrun(mount, context, own, error) :
                                                      prepare_own(spec, mount, context, own, error)))
                        return false;
        }
        return true;
}

/*
 * In the container's process
 */

bool mounts_leave_root_out(const MountPlan *plan, const char *root, GError **error) {
        g_autofree char *own = g_path_get_dirname(root);

        return !mount_plan_clones_trees(plan) ||
               mount_tree_leave_out(own, mount_plan_find_source_in(plan, own), error);
}

static bool make_bind_mount(const BindMountContext *context, ContainerMount *mount, GError **error) {
        _cleanup_close_ int made = mount->fd < 0 ? bind_mount_clone(context, mount, error) : -1;

        if ((mount->fd < 0 && made < 0) ||
            !bind_mount_attach(context, mount, mount->fd < 0 ? made : mount->fd, error))
                return false;
        if (mount->is_masked && made >= 0)
                mount->fd = fd_steal(&made);
        return true;
}

static bool make_kernels(const BindMountContext *context, const ContainerMount *mount, GError **error) {
        return mount->fd >= 0 ? kernel_mount_attach(context->root_fd, mount, mount->fd, error) :
                                kernel_mount_make(context->root_fd, mount, &context->label, error);
}

bool mounts_make(const MountPlan *plan, bool last, const BindMountContext *context, const char *cwd, GError **error) {
        bool hidden = false;

        for (guint i = 0; i < plan->n_mounts; i++) {
                ContainerMount *mount = plan->mounts[i];
                bool kernels = mount->maker == MAKER_KERNEL;

                if (last ? mount->maker != MAKER_LAST : mount->maker >= MAKER_LIBCRUN)
                        continue;
                if (!(kernels ? make_kernels(context, mount, error) : make_bind_mount(context, mount, error)))
                        return false;
                hidden |= !kernels && path_value_covers(mount->oci->destination, cwd);
        }
        if (hidden)
                (void) !root_file_make_directory(context->root_fd, cwd, 0, 0, NULL);
        return true;
}

/* What is in the image can be looked at before libcrun follows it, also as the contents of /proc would be copied into
 * a tmpfs on it; but what a volume brings only afterwards. */
bool mounts_open_for_libcrun(MountPlan *plan, const BindMountContext *context, GError **error) {
        kernel_mounts_note(plan, context->root_fd);
        for (guint i = 0; i < plan->n_mounts; i++) {
                ContainerMount *mount = plan->mounts[i];

                if (mount->maker == MAKER_LIBCRUN &&
                    (!root_file_check_mount_point(context->root_fd, mount->oci->destination + 1, error) ||
                     (mount->is_bind && mount->fd < 0 && !open_for_libcrun(mount, context, error))))
                        return false;
        }
        return true;
}

/* In the place of its source, or of what was mounted in the root as it was before. */
static bool open_mounted(ContainerMount *mount, int root_fd, GError **error) {
        _cleanup_close_ int fd = resolve_open(root_fd, mount->oci->destination, O_PATH, 0,
                                              RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

        if (fd < 0 || !fd_is_same_file(fd, mount->fd))
                return error_set(
                        error, KT_ERROR_FAILED,
                        "The container's '%s', of which a part is masked, is not what was mounted there: its "
                        "parent directory is being changed, or a link leads another mount there",
                        mount->oci->destination);
        close(mount->fd);
        mount->fd = fd_steal(&fd);
        return true;
}

bool mounts_check_libcrun(MountPlan *plan, int root_fd, GError **error) {
        bool result = kernel_mounts_check(plan, root_fd, error);

        for (guint i = 0; i < plan->n_mounts; i++) {
                ContainerMount *mount = plan->mounts[i];

                if (mount->maker >= MAKER_LAST)
                        continue;
                /* Of those before libcrun's the root that it has bound has copies. */
                if (mount->is_masked && mount->fd >= 0)
                        result = result && open_mounted(mount, root_fd, error);
                else if (mount->maker == MAKER_LIBCRUN)
                        fd_close(&mount->fd);
        }
        return result;
}

void mounts_close(MountPlan *plan) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                fd_close(&plan->mounts[i]->fd);
                fd_close(&plan->mounts[i]->target);
        }
}
