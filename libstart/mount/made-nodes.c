/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/made-nodes.h"

typedef runtime_spec_schema_config_schema Spec;
typedef runtime_spec_schema_defs_linux_device Device;

#define DEV "/dev/"

static bool is_below_mount(const Spec *spec, const char *path) {
        for (size_t i = 0; i < spec->mounts_len; i++)
                if (!g_str_equal(spec->mounts[i]->destination, "/dev") &&
                    path_value_covers(spec->mounts[i]->destination, path))
                        return true;
        return false;
}

/* Nothing but our own tmpfs, and no link, can be on the way. */
static int open_below(int dev_fd, const char *path) {
        return resolve_open(dev_fd, path, O_PATH | O_DIRECTORY, 0,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

static int open_parent(int dev_fd, const char *path) {
        g_autofree char *parent = g_path_get_dirname(path);
        int fd = open_below(dev_fd, parent);

        if (fd < 0 && errno == ENOENT && !g_str_equal(parent, ".")) {
                _cleanup_close_ int above = open_parent(dev_fd, parent);
                g_autofree char *name = g_path_get_basename(parent);

                if (above >= 0 && mkdirat(above, name, 0755) == 0)
                        fd = open_below(dev_fd, parent);
        }
        return fd;
}

static mode_t type_of(const Device *device) {
        return device->type[0] == 'b' ? S_IFBLK : S_IFCHR;
}

/* The umask is 0. */
static bool make_node(int dev_fd, const Device *device, GError **error) {
        const char *path = device->path + strlen(DEV);
        g_autofree char *name = g_path_get_basename(path);
        _cleanup_close_ int parent = open_parent(dev_fd, path);
        mode_t mode = device->file_mode_present ? (mode_t) device->file_mode & ALLPERMS : 0666;
        int r = parent < 0 ? -1 :
                             mknodat(parent, name, type_of(device) | mode,
                                     makedev((unsigned) device->major, (unsigned) device->minor));

        if (r < 0 && errno == EEXIST)
                return true;
        if (r < 0 || fchownat(parent, name, device->uid, device->gid, AT_SYMLINK_NOFOLLOW) < 0)
                return error_set_errno(error, errno, "Cannot make the container's '%s'", device->path);
        return true;
}

static bool check_device(const Device *device, GError **error) {
        g_autofree char *clean = path_value_clean(device->path);

        if (!g_str_has_prefix(clean, DEV) || !g_str_equal(clean, device->path))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "The device '%s' is not below /dev, where alone nodes are made", device->path);
        return !!strchr("bcu", device->type[0]) ||
               error_set(error, KT_ERROR_UNSUPPORTED, "The device '%s' is of type '%s': only b and c are known",
                         device->path, device->type);
}

bool made_nodes_make(int root_fd, const Spec *spec, GError **error) {
        _cleanup_close_ int dev = -1;

        if (spec->linux->devices_len == 0)
                return true;
        dev = resolve_open(root_fd, "dev", O_PATH | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
        if (dev < 0)
                return error_set_errno(error, errno, "Cannot open the container's '/dev'");
        for (size_t i = 0; i < spec->linux->devices_len; i++) {
                const Device *device = spec->linux->devices[i];

                if (!check_device(device, error) ||
                    (!is_below_mount(spec, device->path) && !make_node(dev, device, error)))
                        return false;
        }
        return true;
}
