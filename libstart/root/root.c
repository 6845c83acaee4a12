/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/mount/host-path.h"
#include "libstart/mount/id-mapped-mount.h"
#include "libstart/mount/overlay.h"
#include "libstart/mount/root-file.h"
#include "libstart/root/etc-content.h"
#include "libstart/root/etc-files.h"
#include "libstart/root/made-files.h"
#include "libstart/root/root.h"
#include "libstart/root/upper-layer.h"
#include "libstart/store/image.h"

/* DIR, DIR:O or DIR:idmap. Other suffixes that podman has (idmap=) are refused rather than taken for a part of the
 * path. */
static bool find_directory(const ContainerRequest *request, Root *ret, GError **error) {
        const char *value = request->image;
        const char *colon = strrchr(value, ':');
        g_autofree char *path = colon ? g_strndup(value, (gsize) (colon - value)) : g_strdup(value);

        if (colon && !g_str_equal(colon, ":O") && !g_str_equal(colon, ":idmap"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "Root file system '%s': only ':O' or ':idmap' may follow the directory", value);
        if (user_view_is_entered() && g_strcmp0(colon, ":idmap") == 0)
                return error_set(error, KT_ERROR_UNSUPPORTED, "Root file system '%s': %s", value, ROOTFS_NO_IDMAP);
        if (path[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "Root file system '%s' is not an absolute path", path);
        ret->source = host_path_open(path, O_PATH | O_DIRECTORY, &request->host_access, error);
        if (ret->source < 0)
                return error_prefix(error, "Cannot use the root file system: ");
        ret->config = g_new0(ImageConfig, 1);
        ret->layers = g_new0(char *, 2);
        ret->layers[0] = g_strdup(path);
        ret->is_mapped = colon && g_str_equal(colon, ":idmap");
        if (!colon || ret->is_mapped)
                ret->directory = g_steal_pointer(&path);
        return true;
}

/* In OCI's format there is no such thing; what is there all the same (some builders keep it) Podman does not look at.
 */
bool root_read_health(const StoreImage *image, const ContainerRequest *request, ImageHealth **ret, GError **error) {
        GError *problem = NULL;

        if (request->health.off || request->health.regular.command || !strstr(image->config, "\"Healthcheck\"") ||
            !store_image_is_docker(image))
                return true;
        *ret = image_health_parse(image->config, &problem);
        if (problem)
                g_propagate_prefixed_error(error, problem, "Image '%s': ", request->image);
        return !problem;
}

static bool find_image(const ContainerRequest *request, Root *ret, GError **error) {
        const char *reference = request->image;
        g_autoptr(StoreImage) image = store_image_find("", reference, request->image_stores, error);

        if (!image)
                return false;
        ret->config = image_config_parse(image->config, error);
        if (!ret->config)
                return error_prefix(error, "Image '%s': ", reference);
        if (!root_read_health(image, request, &ret->health, error))
                return false;
        ret->layers = g_steal_pointer(&image->layers);
        ret->image_id = g_steal_pointer(&image->id);
        ret->is_mapped = true;
        return true;
}

bool root_find(const ContainerRequest *request, Root *ret, GError **error) {
        g_auto(Root) root = ROOT_NULL;

        if (!(request->rootfs ? find_directory : find_image)(request, &root, error))
                return false;
        *ret = root;
        root = (Root) ROOT_NULL;
        return true;
}

/* A root directory is mounted by the descriptor with which it was found: its path may name something else by now.
 * (Not before Linux 6.15, where the overlay is mounted in another mount namespace than the one it was found in.) */
static bool mount_overlay(Root *root, const WritableLayer *layer, int userns_fd, GError **error) {
        g_autofree char *found = g_strdup_printf("/proc/self/fd/%d", root->source);
        bool by_descriptor = root->source >= 0 && overlay_is_detached(layer);
        char *only[] = { by_descriptor ? found : root->copy, NULL };
        const MountLabel label = { "context", root->label };

        root->fd = root->users ? overlay_mount_above(root->source, layer, &label, root->mount_point,
                                                     &root->layer_is_attached, error) :
                                 overlay_mount(only[0] ? only : root->layers, layer, userns_fd, &label,
                                               root->mount_point, &root->layer_is_attached, error);
        root->mount = root->fd;
        return root->fd >= 0;
}

/* A root directory that is used as it is gets a mount of its own, so that it can be treated like an overlay. What is
 * mounted below comes along, and is nodev as well. */
static bool clone_directory(Root *root, const char *path, int userns_fd, GError **error) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NODEV, .propagation = MS_PRIVATE };
        bool found = root->source >=
                     0; /* not a layer of an image's: that very directory, whatever is at its path now */

        root->fd = (int) syscall(SYS_open_tree, found ? root->source : AT_FDCWD, found ? "" : path,
                                 (found ? AT_EMPTY_PATH : 0) | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        root->mount = root->fd;
        if (userns_fd >= 0 && root->fd >= 0 && !id_mapped_mount_set(root->fd, userns_fd, path, error))
                return false;
        return (root->fd >= 0 && syscall(SYS_mount_setattr, root->fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                                         sizeof attributes) == 0) ||
               error_set_errno(error, errno, "Cannot mount '%s'", path);
}

/* Of what a layer of root's making gets the owners of. On a disk of hers there may be files of root's, and of others
 * whose ids the container has not. */
static bool check_users_owners(const Root *root, GError **error) {
        static const char *const names[] = { "", "etc", "run" };
        struct stat st;

        for (size_t i = 0; root->users && i < G_N_ELEMENTS(names); i++)
                if (fstatat(root->source, names[i], &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno != ENOENT)
                                return error_set_errno(error, errno, "Cannot see whose '/%s' of the image is",
                                                       names[i]);
                } else if (!user_namespace_check_owner(root->users, &st, names[i], error))
                        return false;
        return true;
}

/* Of the container's root, whoever that is on the host. */
static bool fill_layer(Root *root, const ContainerRequest *request, const UserNamespace *userns, const char *hostname,
                       GError **error) {
        const UserNamespace *shifted = root->copy || (root->is_mapped && userns->fd >= 0) ? userns : NULL;
        /* A directory that was found is not looked up again: who can rename it would have another one asked. */
        g_autofree char *found = g_strdup_printf("/proc/self/fd/%d/.", root->source);
        char *only[] = { found, NULL }, *const *layers = root->source >= 0 ? only : root->layers;
        bool ok;

        root->made = made_files_new();
        ok = user_namespace_make_files_for_root(userns, error) &&
             upper_layer_create(&root->layer, layers, shifted, error) &&
             etc_files_write(root->layer.upper, layers, shifted, request, root->image_id, hostname, root->network,
                             root->made, error);

        user_namespace_make_own_files(userns);
        return ok;
}

static int mapping_of(const Root *root, const UserNamespace *userns) {
        return root->is_mapped && !root->copy ? userns->fd : -1;
}

static bool make_overlay(Root *root, const ContainerRequest *request, const UserNamespace *userns,
                         const char *hostname, GError **error) {
        bool ok = check_users_owners(root, error) && fill_layer(root, request, userns, hostname, error) &&
                  mount_overlay(root, &root->layer, mapping_of(root, userns), error);

        writable_layer_close_directories(&root->layer);
        return ok;
}

/* The mount points are passed by the container's root, in its own namespace. Those of a user stay hers, as her
 * manager is to remove them. Nobody else gets there: $XDG_RUNTIME_DIR is above them. */
static bool make_mount_point(const char *path, const UserNamespace *userns, GError **error) {
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", path);
        if (user_view_is_entered())
                return chmod(path, 0711) == 0 ||
                       error_set_errno(error, errno, "Cannot change the mode of '%s'", path);
        return !userns->uids || lchown(path, user_namespace_uid(userns, 0), user_namespace_gid(userns, 0)) == 0 ||
               error_set_errno(error, errno, "Cannot change the owner of '%s'", path);
}

static bool mount_root(Root *root, const ContainerRequest *request, const UserNamespace *userns,
                       const char *directory, const char *hostname, GError **error) {
        root->mount_point = g_build_filename(directory, "root", NULL);
        root->layer_place = root->directory ? g_build_filename(directory, "files", NULL) :
                                              g_strdup(root->mount_point);
        if ((userns->uids && !make_mount_point(directory, userns, error)) ||
            !make_mount_point(root->mount_point, userns, error) ||
            (root->directory && !make_mount_point(root->layer_place, userns, error)))
                return false;
        if (!writable_layer_make(&request->storage, &(MountLabel) { "context", root->label }, &root->layer, error))
                return false;
        return root->directory ? clone_directory(root, root->directory, mapping_of(root, userns), error) :
                                 make_overlay(root, request, userns, hostname, error);
}

bool root_mount(Root *root, const ContainerRequest *request, const UserNamespace *userns, const char *directory,
                const char *hostname, GError **error) {
        bool mounted = mount_root(root, request, userns, directory, hostname, error);

        /* No descriptor of the host's files is open when there is a container: its working directory could be one. */
        if (root->source >= 0)
                close(fd_steal(&root->source));
        return mounted;
}

/* The image's working directory and volumes are made if they are missing. One that the user names must exist. */
static bool make_directories(const Root *root, const ContainerRequest *request, const UserNamespace *userns,
                             const UserIdentity *user, GError **error) {
        const char *workdir = request->workdir ? NULL : root->config->working_dir;

        if (workdir)
                made_files_add(root->made, workdir, "", 0);
        if (workdir && !root_file_make_directory(root->fd, workdir, user_namespace_uid(userns, user->uid),
                                                 user_namespace_gid(userns, user->gid), error))
                return false;
        for (char **volume = root->config->volumes; volume && *volume; volume++) {
                made_files_add(root->made, *volume, "", 0);
                if (!root_file_make_directory(root->fd, *volume, user_namespace_uid(userns, 0),
                                              user_namespace_gid(userns, 0), error))
                        return false;
        }
        return true;
}

static bool write_file(const Root *root, const char *path, const char *text, GError **error) {
        made_files_add(root->made, path, text, strlen(text));
        return root_file_write(root->fd, path + 1, text, error);
}

/* Of a user's manager: for plain keep-id, as Podman has it. */
static bool read_kept_user(const UsernsRequest *userns, KeptUser *ret, GError **error) {
        g_autofree char *passwd = NULL, *group = NULL;

        if (userns->mode != USERNS_KEEP_ID || !user_view_is_entered() || userns->uid != user_view_find_uid() ||
            userns->gid != user_view_find_gid())
                return true;
        if (!file_read("/etc/passwd", &passwd, NULL, error) || !file_read("/etc/group", &group, NULL, error))
                return false;
        *ret = kept_user_find(userns->uid, userns->gid, passwd, group);
        return true;
}

static bool complete(const Root *root, const ContainerRequest *request, const UserNamespace *userns,
                     const char *hostname, const Identity *identity, GPtrArray **ret_file_mounts, GError **error) {
        const char *workdir = request->workdir ?: root->config->working_dir ?: "/";
        g_autofree char *passwd = NULL, *group = NULL;
        g_auto(KeptUser) kept = { 0 };

        if (!read_kept_user(&request->userns, &kept, error))
                return false;
        passwd = etc_passwd(identity->passwd, &identity->user, &kept, workdir);
        group = etc_group(identity->group, &identity->user, &kept);
        if (root->directory) {
                *ret_file_mounts = etc_files_write_apart(root->layer.mount, root->layer_place, root->fd, request,
                                                         hostname, root->network, passwd, group, error);
                return *ret_file_mounts;
        }
        return etc_files_add_mtab(root->fd, error) && (!passwd || write_file(root, "/etc/passwd", passwd, error)) &&
               (!group || write_file(root, "/etc/group", group, error)) &&
               make_directories(root, request, userns, &identity->user, error);
}

bool root_complete(const Root *root, const ContainerRequest *request, const UserNamespace *userns,
                   const char *hostname, const Identity *identity, GPtrArray **ret_file_mounts, GError **error) {
        bool ok = user_namespace_make_files_for_root(userns, error) &&
                  complete(root, request, userns, hostname, identity, ret_file_mounts, error);

        user_namespace_make_own_files(userns);
        return ok;
}

void root_unmount(const Root *root) {
        g_autofree char *own = root->layer_is_attached ? g_path_get_dirname(root->mount_point) : NULL;

        if (own) /* with all that lies in it */
                (void) umount2(own, MNT_DETACH | UMOUNT_NOFOLLOW);
}

bool root_peek(Root *root, GError **error) {
        if (root->users) { /* nobody can write to it */
                root->fd = fd_steal(&root->source);
                return true;
        }
        root->mount_point = g_strdup(root->layers[0]);
        return root->layers[1] ? mount_overlay(root, NULL, -1, error) :
                                 clone_directory(root, root->layers[0], -1, error);
}

void root_clear(Root *root) {
        g_strfreev(root->layers);
        g_free(root->directory);
        g_free(root->image_id);
        g_free(root->copy);
        g_free(root->mount_point);
        g_free(root->layer_place);
        image_config_free(root->config);
        image_health_free(root->health);
        g_clear_pointer(&root->made, g_ptr_array_unref);
        fd_closep(&root->source);
        fd_closep(&root->fd);
        writable_layer_close(&root->layer);
        *root = (Root) ROOT_NULL;
}
