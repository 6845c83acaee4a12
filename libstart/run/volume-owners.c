/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/option/id-map.h"
#include "libstart/option/mount-request.h"
#include "libstart/run/volume-owners.h"

typedef runtime_spec_schema_defs_mount Mount;

static bool is_requested(const ContainerRequest *request, const char *destination) {
        for (guint i = 0; i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];

                if (mount->type == MOUNT_VOLUME && !mount->source && g_str_equal(mount->destination, destination))
                        return true;
        }
        return false;
}

static bool is_volume(const Mount *mount, const ContainerRequest *request, const Root *root) {
        bool is_tmpfs = request->image_volumes == IMAGE_VOLUMES_TMPFS; /* root's, as with Podman */
        char *const *volumes = is_tmpfs ? NULL : root->config->volumes;

        return g_strcmp0(mount->type, "tmpfs") == 0 &&
               ((volumes && g_strv_contains((const char *const *) volumes, mount->destination)) ||
                is_requested(request, mount->destination));
}

/* The file system is mounted in the container's user namespace, which knows its own ids. */
static guint32 id_inside(const GArray *map, guint32 outside) {
        guint32 inside;

        return map && id_map_inside(map, outside, &inside) ? inside : map ? 0 : outside;
}

static void add_option(Mount *mount, char *option) {
        mount->options = g_renew(char *, mount->options, mount->options_len + 2);
        mount->options[mount->options_len++] = option;
        mount->options[mount->options_len] = NULL;
}

static bool set_owner(Mount *mount, const Root *root, const UserNamespace *userns, GError **error) {
        _cleanup_close_ int fd = resolve_open(root->fd, mount->destination, O_PATH | O_DIRECTORY, 0,
                                              RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        struct stat st;

        if (fd < 0)
                return true; /* it will be made, and is root's */
        if (fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at the container's '%s'", mount->destination);
        if (st.st_uid != 0)
                add_option(mount, g_strdup_printf("uid=%u", id_inside(userns->uids, st.st_uid)));
        if (st.st_gid != 0)
                add_option(mount, g_strdup_printf("gid=%u", id_inside(userns->gids, st.st_gid)));
        return true;
}

bool volume_owners_set(runtime_spec_schema_config_schema *spec, const ContainerRequest *request, const Root *root,
                       const UserNamespace *userns, GError **error) {
        if (!request->read_only && !root->directory)
                return true;
        for (size_t i = 0; i < spec->mounts_len; i++)
                if (is_volume(spec->mounts[i], request, root) && !set_owner(spec->mounts[i], root, userns, error))
                        return false;
        return true;
}
