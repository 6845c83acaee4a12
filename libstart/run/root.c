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
#include "libstart/run/etc-content.h"
#include "libstart/run/etc-files.h"
#include "libstart/run/host-path.h"
#include "libstart/run/overlay.h"
#include "libstart/run/root-file.h"
#include "libstart/run/root.h"
#include "libstart/run/upper-layer.h"
#include "libstart/store/image.h"

/* DIR or DIR:O. Other suffixes that podman has (idmap) are refused rather than taken for a part of the path. */
static bool find_directory(const ContainerRequest *request, Root *ret, GError **error) {
        const char *value = request->image;
        const char *colon = strrchr(value, ':');
        g_autofree char *path = colon ? g_strndup(value, (gsize) (colon - value)) : g_strdup(value);

        if (colon && !g_str_equal(colon, ":O"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "Root file system '%s': only ':O' may follow the directory", value);
        if (path[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "Root file system '%s' is not an absolute path", path);
        ret->source = host_path_open(path, O_PATH | O_DIRECTORY, request->untrusted_list, error);
        if (ret->source < 0) {
                g_prefix_error(error, "Cannot use the root file system: ");
                return false;
        }
        ret->config = image_config_new_empty();
        ret->layers = g_new0(char *, 2);
        ret->layers[0] = g_strdup(path);
        if (!colon)
                ret->directory = g_steal_pointer(&path);
        return true;
}

static bool find_image(const ContainerRequest *request, Root *ret, GError **error) {
        const char *reference = request->image;
        g_autoptr(StoreImage) image = store_image_find("", reference, request->image_stores, error);

        if (!image)
                return false;
        ret->config = image_config_parse(image->config, error);
        if (!ret->config) {
                g_prefix_error(error, "Image '%s': ", reference);
                return false;
        }
        ret->layers = g_steal_pointer(&image->layers);
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

/* A root directory is mounted by the descriptor with which it was found: its path may name something else by now. (Not
 * before Linux 6.15, where the overlay is mounted in another mount namespace than the one it was found in.) */
static bool mount_overlay(Root *root, const WritableLayer *layer, GError **error) {
        g_autofree char *found = g_strdup_printf("/proc/self/fd/%d", root->source);
        char *only[] = { found, NULL };
        bool by_descriptor = root->source >= 0 && overlay_is_detached(layer);

        root->fd = overlay_mount(by_descriptor ? only : root->layers, layer, root->mount_point, &root->place, error);
        if (root->place != OVERLAY_ATTACHED)
                root->mount = root->fd;
        return root->fd >= 0;
}

/* A root directory that is used as it is gets a mount of its own, so that it can be treated like an overlay. What is
 * mounted below comes along, and is nodev as well. */
static bool clone_directory(Root *root, const char *path, GError **error) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NODEV, .propagation = MS_PRIVATE };
        bool found = root->source >=
                     0; /* not a layer of an image's: that very directory, whatever is at its path now */

        root->fd = (int) syscall(SYS_open_tree, found ? root->source : AT_FDCWD, found ? "" : path,
                                 (found ? AT_EMPTY_PATH : 0) | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        root->mount = root->fd;
        return (root->fd >= 0 && syscall(SYS_mount_setattr, root->fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                                         sizeof attributes) == 0) ||
               error_set_errno(error, errno, "Cannot mount '%s'", path);
}

static bool make_overlay(Root *root, const ContainerRequest *request, const char *hostname, GError **error) {
        bool ok = upper_layer_create(&root->layer, root->layers, error) &&
                  etc_files_write(root->layer.upper, root->layers, request, hostname, error) &&
                  mount_overlay(root, &root->layer, error);

        writable_layer_close_directories(&root->layer);
        return ok;
}

static bool mount_root(Root *root, const ContainerRequest *request, const char *directory, const char *hostname,
                       GError **error) {
        root->mount_point = g_build_filename(directory, "root", NULL);
        root->layer_place = root->directory ? g_build_filename(directory, "files", NULL) :
                                              g_strdup(root->mount_point);
        if (mkdir(root->mount_point, 0700) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", root->mount_point);
        if (root->directory && mkdir(root->layer_place, 0700) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", root->layer_place);
        if (!writable_layer_make(&request->storage, &root->layer, error))
                return false;
        return root->directory ? clone_directory(root, root->directory, error) :
                                 make_overlay(root, request, hostname, error);
}

bool root_mount(Root *root, const ContainerRequest *request, const char *directory, const char *hostname,
                GError **error) {
        bool mounted = mount_root(root, request, directory, hostname, error);

        /* No descriptor of the host's files is open when there is a container: its working directory could be one. */
        if (root->source >= 0)
                close(fd_steal(&root->source));
        return mounted;
}

/* The image's working directory and volumes are made if they are missing. One that the user names must exist. */
static bool make_directories(const Root *root, const ContainerRequest *request, const UserIdentity *user,
                             GError **error) {
        const char *workdir = request->workdir ? NULL : root->config->working_dir;

        if (workdir && !root_file_make_directory(root->fd, workdir, user->uid, user->gid, error))
                return false;
        for (char **volume = root->config->volumes; volume && *volume; volume++)
                if (!root_file_make_directory(root->fd, *volume, 0, 0, error))
                        return false;
        return true;
}

bool root_complete(const Root *root, const ContainerRequest *request, const char *hostname, const Identity *identity,
                   GPtrArray **ret_file_mounts, GError **error) {
        const char *workdir = request->workdir ?: root->config->working_dir ?: "/";
        g_autofree char *passwd = etc_passwd(identity->passwd, &identity->user, workdir);
        g_autofree char *group = etc_group(identity->group, &identity->user);

        if (root->directory) {
                *ret_file_mounts = etc_files_write_apart(root->layer.mount, root->layer_place, root->fd, request,
                                                         hostname, passwd, group, error);
                return *ret_file_mounts;
        }
        return (!passwd || root_file_write(root->fd, "etc/passwd", passwd, error)) &&
               (!group || root_file_write(root->fd, "etc/group", group, error)) &&
               make_directories(root, request, &identity->user, error);
}

void root_unmount(const Root *root) {
        while (root->place != OVERLAY_DETACHED && umount2(root->mount_point, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
                ;
}

bool root_peek(Root *root, GError **error) {
        root->mount_point = g_strdup(root->layers[0]);
        return root->layers[1] ? mount_overlay(root, NULL, error) : clone_directory(root, root->layers[0], error);
}

void root_clear(Root *root) {
        g_strfreev(root->layers);
        g_free(root->directory);
        g_free(root->mount_point);
        g_free(root->layer_place);
        image_config_free(root->config);
        fd_closep(&root->source);
        fd_closep(&root->fd);
        writable_layer_close(&root->layer);
        *root = (Root) ROOT_NULL;
}
