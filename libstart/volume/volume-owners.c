/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/value/id-map.h"
#include "libstart/volume/volume-owners.h"

/* The file system is mounted in the container's user namespace, which knows its own ids. */
static guint32 id_inside(const GArray *map, guint32 outside) {
        guint32 inside;

        return map && id_map_inside(map, outside, &inside) ? inside : map ? 0 : outside;
}

static void add_owner(OciMount *mount, const char *name, guint32 id) {
        g_autofree char *option = g_strdup_printf("%s=%u", name, id);

        oci_mount_add_option(mount, option);
}

static bool set_owner(OciMount *mount, const Root *root, const UserNamespace *userns, GError **error) {
        _cleanup_close_ int fd = resolve_open(root->fd, mount->destination, O_PATH | O_DIRECTORY, 0,
                                              RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        struct stat st;

        if (fd < 0)
                return true; /* it will be made, and is root's */
        if (fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at the container's '%s'", mount->destination);
        if (st.st_uid != 0)
                add_owner(mount, "uid", id_inside(userns->uids, st.st_uid));
        if (st.st_gid != 0)
                add_owner(mount, "gid", id_inside(userns->gids, st.st_gid));
        return true;
}

bool volume_owners_set(const MountPlan *plan, const ContainerRequest *request, const Root *root,
                       const UserNamespace *userns, GError **error) {
        if (!request->read_only && !root->directory)
                return true;
        for (guint i = 0; i < plan->n_mounts; i++)
                if (plan->mounts[i]->is_volume && !set_owner(plan->mounts[i]->oci, root, userns, error))
                        return false;
        return true;
}
