/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/kernel-mounts.h"

/* What mount(2) calls it. */
static const char *find_type(const ContainerMount *mount) {
        return g_str_equal(mount->oci->type, "cgroup") ? "cgroup2" : mount->oci->type;
}

/* No link is followed: where an image has a link in the place of /proc, the container does not start. */
static int open_directory(int root_fd, const char *path) {
        return resolve_open(root_fd, path, O_PATH | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* In its parent, by a name alone: mkdirat(2) would follow a link on the way, which somebody who shares the root
 * directory may put there at this moment, to the host's root. */
static bool make_directory(int root_fd, const char *path) {
        g_autofree char *parent = g_path_get_dirname(path), *name = g_path_get_basename(path);
        _cleanup_close_ int fd = open_directory(root_fd, parent);

        return fd >= 0 && mkdirat(fd, name, 0755) == 0;
}

/* The mount point becomes the working directory: mount(2) then has no path to resolve, and nobody can exchange it. */
static bool enter_mount_point(int root_fd, const char *destination, GError **error) {
        const char *path = destination + 1;
        _cleanup_close_ int fd = open_directory(root_fd, path);

        if (fd < 0 && errno == ENOENT && make_directory(root_fd, path))
                fd = open_directory(root_fd, path);
        if (fd < 0 || fchdir(fd) < 0)
                return error_set_errno(error, errno, "Cannot mount on the container's '%s'", destination);
        return true;
}

/* What the runtime spec wants in every /dev, the links that the C library and shells expect, and the mount points of
 * what is mounted next: /dev is open here. The umask is 0. */
static bool fill_dev(int dev, GError **error) {
        static const struct {
                const char *name;
                unsigned int major, minor;
        } nodes[] = {
                { "null", 1, 3 },   { "zero", 1, 5 },    { "full", 1, 7 },
                { "random", 1, 8 }, { "urandom", 1, 9 }, { "tty", 5, 0 },
        };
        static const char *const links[][2] = {
                { "fd", "/proc/self/fd" },       { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
                { "stderr", "/proc/self/fd/2" }, { "core", "/proc/kcore" },      { "ptmx", "pts/ptmx" },
        };
        static const char *const directories[] = { "pts", "mqueue", "shm" };

        for (size_t i = 0; i < G_N_ELEMENTS(nodes) && !user_view_is_entered(); i++) /* there they are bind mounts */
                if (mknodat(dev, nodes[i].name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) < 0)
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", nodes[i].name);
        for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
                if (symlinkat(links[i][1], dev, links[i][0]) < 0)
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", links[i][0]);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (mkdirat(dev, directories[i], 01777) < 0) /* the mode of a Tmpfs= there that says none */
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", directories[i]);
        return true;
}

static void label_root(int root_fd, const ContainerMount *mount, const MountLabel *label) {
        _cleanup_close_ int fd = resolve_open(root_fd, mount->oci->destination + 1, O_RDONLY | O_DIRECTORY, 0,
                                              RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

        if (fd >= 0)
                mount_label_set(label, fd);
}

static bool open_and_fill_dev(int root_fd, GError **error) {
        _cleanup_close_ int dev = open_directory(root_fd, "dev");

        return dev < 0 ? error_set_errno(error, errno, "Cannot open the container's '/dev'") : fill_dev(dev, error);
}

static bool set_option(int context, const char *option) {
        g_auto(GStrv) parts = g_strsplit(option, "=", 2);

        return syscall(SYS_fsconfig, context, parts[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, parts[0], parts[1],
                       0) == 0;
}

int kernel_mount_make_detached(const ContainerMount *wanted, const MountLabel *label, GError **error) {
        _cleanup_close_ int context = (int) syscall(SYS_fsopen, find_type(wanted), FSOPEN_CLOEXEC), fd = -1;
        guint64 attributes = wanted->flags & MOUNT_RESTRICTIONS;
        bool ok = context >= 0 &&
                  syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "source", wanted->oci->source, 0) == 0;

        if (wanted->flags & MS_STRICTATIME)
                attributes |= MOUNT_ATTR_STRICTATIME;
        for (size_t i = 0; ok && i < wanted->oci->options_len; i++)
                if (mount_option_is_data(wanted->oci->options[i]))
                        ok = set_option(context, wanted->oci->options[i]);
        if (ok && wanted->kernel->labelled == LABELLED_AS_MOUNT)
                ok = mount_label_configure(label, context);
        if (ok && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                fd = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot mount the container's '%s'", wanted->oci->destination);
        else if (!g_str_equal(wanted->oci->destination, "/dev") || fill_dev(fd, error))
                return fd_steal(&fd);
        return -1;
}

bool kernel_mount_attach(int root_fd, const ContainerMount *wanted, int mount, GError **error) {
        if (!enter_mount_point(root_fd, wanted->oci->destination, error))
                return false;
        return syscall(SYS_move_mount, mount, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "Cannot mount the container's '%s'", wanted->oci->destination);
}

/* On the host's /sys there is a cgroup file system already, and mount(2) takes no second one in its place. */
static bool make_over(int root_fd, const ContainerMount *wanted, const MountLabel *label, GError **error) {
        _cleanup_close_ int fd = kernel_mount_make_detached(wanted, label, error);

        return fd >= 0 && kernel_mount_attach(root_fd, wanted, fd, error);
}

bool kernel_mount_make(int root_fd, const ContainerMount *wanted, const MountLabel *label, GError **error) {
        g_autoptr(GString) data = NULL;
        unsigned long flags = wanted->flags & (MOUNT_RESTRICTIONS | MS_RELATIME | MS_STRICTATIME);

        if (user_view_is_entered() && g_str_equal(wanted->oci->type, "cgroup")) /* it would be busy for sure */
                return make_over(root_fd, wanted, label, error);
        data = g_string_new(NULL);
        for (size_t i = 0; i < wanted->oci->options_len; i++)
                if (mount_option_is_data(wanted->oci->options[i]))
                        g_string_append_printf(data, "%s%s", data->len > 0 ? "," : "", wanted->oci->options[i]);
        if (wanted->kernel->labelled == LABELLED_AS_MOUNT)
                mount_label_append(label, data);
        if (!enter_mount_point(root_fd, wanted->oci->destination, error))
                return false;
        if (mount(wanted->oci->source, ".", find_type(wanted), flags, data->str) < 0)
                return errno == EBUSY ? make_over(root_fd, wanted, label, error) :
                                        error_set_errno(error, errno, "Cannot mount the container's '%s'",
                                                        wanted->oci->destination);
        if (label->text && wanted->kernel->labelled == LABELLED_AS_FILE)
                label_root(root_fd, wanted, label);
        return !g_str_equal(wanted->oci->destination, "/dev") || open_and_fill_dev(root_fd, error);
}

/* 0 where it cannot be looked at. */
static dev_t find_device(const ContainerMount *mount, int root_fd) {
        struct stat st;

        return fstatat(root_fd, mount->oci->destination + 1, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_dev : 0;
}

void kernel_mounts_note(MountPlan *plan, int root_fd) {
        for (guint i = 0; i < plan->n_mounts; i++)
                if (plan->mounts[i]->maker == MAKER_KERNEL)
                        plan->mounts[i]->device = find_device(plan->mounts[i], root_fd);
}

bool kernel_mounts_check(const MountPlan *plan, int root_fd, GError **error) {
        for (guint i = 0; i < plan->n_mounts; i++) {
                const ContainerMount *mount = plan->mounts[i];

                if (mount->maker == MAKER_KERNEL && find_device(mount, root_fd) != mount->device)
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "Another mount has come to lie on the container's '%s': the path of a mount, or "
                                "of a VOLUME of the image, has a link in it that leads there",
                                mount->oci->destination);
        }
        return true;
}
