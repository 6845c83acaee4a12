/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/host-path.h"
#include "libstart/mount/root-file.h"
#include "libstart/oci/selinux-label.h"
#include "libstart/request/mount-request.h"
#include "libstart/userns/owner.h"
#include "libstart/volume/artifact-mounts.h"
#include "libstart/volume/kept-volumes.h"
#include "libstart/volume/requested-mounts.h"
#include "libstart/volume/tree-label.h"
#include "libstart/volume/tree-owner.h"
#include "libstart/volume/volume.h"

/* A match is only a name: whatever it is when it is mounted, links in it are followed as in any source (host-path.h).
 */
static MountRequest *make_match(const MountRequest *glob, const char *path, GError **error) {
        g_autoptr(MountRequest) match = mount_request_new(MOUNT_BIND);
        g_autofree char *name = g_path_get_basename(path);
        g_autofree char *destination = g_build_filename(glob->destination, name, NULL);

        if (!mount_request_set_source(match, path, error) ||
            !mount_request_set_destination(match, destination, error))
                return NULL;
        for (guint i = 0; i < glob->options->len; i++)
                g_ptr_array_add(match->options, g_strdup(glob->options->pdata[i]));
        match->chown = glob->chown;
        match->relabel = glob->relabel;
        return g_steal_pointer(&match);
}

static bool expand(const MountRequest *request, const Owner *owner, GPtrArray *mounts, guint at, GError **error) {
        glob_t found = { 0 };
        bool ok;

        owner_take_rights(owner);
        ok = glob(request->source, GLOB_ERR, NULL, &found) == 0;
        owner_leave_rights(owner);
        if (!ok)
                error_set(error, KT_ERROR_NOT_FOUND,
                          "Cannot mount '%s' on the container's '%s' (Mount=type=glob): nothing matches",
                          request->source, request->destination);
        for (size_t i = 0; ok && i < found.gl_pathc; i++) {
                MountRequest *match = make_match(request, found.gl_pathv[i], error);

                ok = match;
                if (match)
                        g_ptr_array_insert(mounts, (int) (at + i), match);
        }
        globfree(&found);
        return ok;
}

static bool expand_globs(GPtrArray *mounts, const Owner *owner, GError **error) {
        for (guint i = mounts->len; i-- > 0;) {
                g_autoptr(MountRequest) request = NULL;

                if (((MountRequest *) mounts->pdata[i])->type != MOUNT_GLOB)
                        continue;
                request = g_ptr_array_steal_index(mounts, i);
                if (!expand(request, owner, mounts, i, error))
                        return false;
        }
        return true;
}

static bool is_named_volume(const MountRequest *mount) {
        return mount->type == MOUNT_VOLUME && !mount_request_is_anonymous(mount);
}

static bool find_volumes(const GPtrArray *mounts, char **ret, GError **error) {
        *ret = NULL;
        for (guint i = 0; i < mounts->len; i++)
                if (is_named_volume(mounts->pdata[i])) {
                        *ret = volume_directory(error);
                        return *ret;
                }
        return true;
}

bool requested_mounts_find(const ContainerRequest *request, const Root *root, char **ret_volumes, GError **error) {
        GPtrArray *mounts = request->mounts;

        return expand_globs(mounts, request->host_access.owner, error) &&
               artifact_mounts_expand(mounts, root->fd, request->image_stores, error) &&
               (request->image_volumes != IMAGE_VOLUMES_KEPT ||
                kept_volumes_add(mounts, request->name, root->config->volumes, error)) &&
               find_volumes(mounts, ret_volumes, error);
}

/* Podman gives all of a volume to the user, and mounts a part of it. */
static bool prepare_volume(const MountRequest *mount, const char *volumes, const Root *root, const UserIdentity *user,
                           GError **error) {
        _cleanup_close_ int volume = volume_open(volumes, mount->source, error), data = -1;
        g_autofree char *shared = root->label ? selinux_label_share(root->label) : NULL;
        const VolumeUse use = {
                .root_fd = root->fd,
                .destination = mount->destination,
                .no_copy = mount->no_copy || mount->subpath,
                .is_read_only = mount_request_has_option(mount, "ro"),
                .user = user,
                .users = root->users,
                .label = shared,
        };

        if (volume < 0 || !volume_check_mounted(volume, mount->source, error) ||
            !volume_use(volume, mount->source, &use, error))
                return false;
        if (!mount->chown)
                return true;
        data = volume_open_data(volume, mount->source, error);
        return data >= 0 && tree_change_owner(data, mount->source, user->uid, user->gid, error);
}

static bool prepare_bind(const MountRequest *mount, const HostAccess *access, const UserIdentity *user,
                         GError **error) {
        _cleanup_close_ int fd = -1;

        if (!mount->chown)
                return true;
        fd = host_path_open(mount->source, O_PATH, access, error);
        return fd >= 0 && tree_check_owner_change(fd, mount->source, error) &&
               tree_change_owner(fd, mount->source, user->uid, user->gid, error);
}

/* In a root that keeps what is written no place is made: a file system in memory is mounted there. */
static bool prepare_anonymous(const MountRequest *mount, const Root *root, const UserIdentity *user, GError **error) {
        _cleanup_close_ int fd = -1;

        if (root->directory)
                return !mount->chown ||
                       error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'U' on '%s' would change the owner in Rootfs='%s': give the volume a name",
                                 mount->destination, root->directory);
        if (!root_file_make_directory(root->fd, mount->destination, user->uid, user->gid, error))
                return false;
        if (!mount->chown)
                return true;
        fd = resolve_open(root->fd, mount->destination, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        if (fd < 0)
                return error_set_errno(error, errno, "Cannot open the container's '%s'", mount->destination);
        return tree_change_owner(fd, mount->destination, user->uid, user->gid, error);
}

static bool prepare(const ContainerRequest *request, const MountRequest *mount, const char *volumes, const Root *root,
                    const UserIdentity *user, GError **error) {
        if (is_named_volume(mount))
                return prepare_volume(mount, volumes, root, user, error);
        if (mount->type == MOUNT_VOLUME)
                return prepare_anonymous(mount, root, user, error);
        return mount->type != MOUNT_BIND || prepare_bind(mount, &request->host_access, user, error);
}

bool requested_mounts_prepare(const ContainerRequest *request, const char *volumes, const Root *root,
                              const UserIdentity *user, GError **error) {
        for (guint i = 0; i < request->mounts->len; i++)
                if (!prepare(request, request->mounts->pdata[i], volumes, root, user, error))
                        return false;
        return true;
}

/* A volume is keyturn's or Podman's, whatever directory that is in. */
static int open_labelled(const MountRequest *mount, const char *volumes, const HostAccess *access, GError **error) {
        _cleanup_close_ int volume = -1, fd = -1;

        if (mount->type == MOUNT_VOLUME) {
                volume = volume_open(volumes, mount->source, error);
                return volume < 0 ? -1 : volume_open_data(volume, mount->source, error);
        }
        fd = host_path_open(mount->source, O_PATH, access, error);
        if (fd < 0)
                g_prefix_error(error, "Cannot relabel '%s': ", mount->source);
        else if (tree_check_label_change(fd, mount->source, error))
                return fd_steal(&fd);
        return -1;
}

static bool is_relabelled(const MountRequest *mount) {
        return mount->relabel != RELABEL_NO && (mount->type == MOUNT_BIND || is_named_volume(mount));
}

bool requested_mounts_relabel(const ContainerRequest *request, const char *volumes, const char *label,
                              Notify *systemd, GError **error) {
        g_autofree char *shared = label ? selinux_label_share(label) : NULL;

        for (guint i = 0; label && i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];
                const Owner *owner = mount->type == MOUNT_BIND ? request->host_access.owner : NULL;
                _cleanup_close_ int fd = -1;
                bool done;

                if (!is_relabelled(mount))
                        continue;
                fd = open_labelled(mount, volumes, &request->host_access, error);
                if (fd < 0)
                        return false;
                owner_take_rights(owner);
                done = tree_change_label(fd, mount->source, mount->relabel == RELABEL_SHARED ? shared : label,
                                         systemd, error);
                owner_leave_rights(owner);
                if (!done)
                        return false;
        }
        return true;
}
