/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "libstart/base/fd.h"
#include "libstart/oci/selinux-label.h"
#include "libstart/option/mount-request.h"
#include "libstart/run/host-path.h"
#include "libstart/run/relabel.h"
#include "libstart/run/tree-label.h"
#include "libstart/run/volume.h"

/* A volume is keyturn's or Podman's, whatever directory that is in. */
static int open_source(const MountRequest *mount, const char *volumes, const char *untrusted_list, GError **error) {
        _cleanup_close_ int volume = -1, fd = -1;

        if (mount->type == MOUNT_VOLUME) {
                volume = volume_open(volumes, mount->source, error);
                return volume < 0 ? -1 : volume_open_data(volume, mount->source, error);
        }
        fd = host_path_open(mount->source, O_PATH, untrusted_list, error);
        if (fd < 0)
                g_prefix_error(error, "Cannot relabel '%s': ", mount->source);
        else if (tree_check_label_change(fd, mount->source, error))
                return fd_steal(&fd);
        return -1;
}

static bool is_relabelled(const MountRequest *mount) {
        return mount->relabel != RELABEL_NO && mount->source &&
               (mount->type == MOUNT_BIND || mount->type == MOUNT_VOLUME);
}

bool relabel_mounts(const ContainerRequest *request, const char *volumes, const char *label, Notify *systemd,
                    GError **error) {
        g_autofree char *shared = label ? selinux_label_share(label) : NULL;

        for (guint i = 0; label && i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];
                _cleanup_close_ int fd = -1;

                if (!is_relabelled(mount))
                        continue;
                fd = open_source(mount, volumes, request->untrusted_list, error);
                if (fd < 0 || !tree_change_label(fd, mount->source, mount->relabel == RELABEL_SHARED ? shared : label,
                                                 systemd, error))
                        return false;
        }
        return true;
}
