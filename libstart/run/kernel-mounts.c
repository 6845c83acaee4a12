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
#include "libstart/run/kernel-mounts.h"

typedef runtime_spec_schema_defs_mount Mount;

/* How SELinux's label gets onto what is a container's own. */
typedef enum Labelled {
        NOT_LABELLED,
        AS_MOUNT,
        AS_FILE,
} Labelled;

/* Parents come first: below one of these mounts everything is the kernel's, and no link of the image's in the way. */
static const struct {
        const char *destination, *type;
        const char *fs_type; /* what mount(2) calls it */
        Labelled labelled;
} known[] = {
        { "/proc", "proc", "proc" },
        { "/dev", "tmpfs", "tmpfs", AS_MOUNT },
        { "/sys", "sysfs", "sysfs" },
        { "/dev/pts", "devpts", "devpts", AS_MOUNT },
        { "/dev/mqueue", "mqueue", "mqueue", AS_FILE },
        { "/dev/shm", "tmpfs", "tmpfs", AS_MOUNT },
        { "/sys/fs/cgroup", "cgroup", "cgroup2" },
};

/* rprivate needs nothing done: the container's mounts are private unless somebody asks for something else. */
static const struct {
        const char *name;
        unsigned long flag;
} flags[] = {
        { "nosuid", MS_NOSUID },     { "noexec", MS_NOEXEC },           { "nodev", MS_NODEV }, { "ro", MS_RDONLY },
        { "relatime", MS_RELATIME }, { "strictatime", MS_STRICTATIME }, { "rprivate", 0 },
};

static bool find_flag(const char *option, unsigned long *ret) {
        for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
                if (g_str_equal(option, flags[i].name)) {
                        *ret = flags[i].flag;
                        return true;
                }
        return false;
}

/* An option of the file system's own. */
static bool is_data(const char *option) {
        return strchr(option, '=') || g_str_equal(option, "newinstance");
}

static bool has_mode(const Mount *mount) {
        for (size_t i = 0; i < mount->options_len; i++)
                if (g_str_has_prefix(mount->options[i], "mode="))
                        return true;
        return false;
}

/* Not a tmpfs that is to be read-only, as something must be put into it first, nor one that takes its mode from the
 * directory below it. */
static bool is_makeable(const Mount *mount) {
        bool tmpfs = g_str_equal(mount->type, "tmpfs");
        unsigned long flag = 0;

        for (size_t i = 0; i < mount->options_len; i++)
                if (!is_data(mount->options[i]) &&
                    (!find_flag(mount->options[i], &flag) || (tmpfs && flag == MS_RDONLY)))
                        return false;
        return !tmpfs || has_mode(mount);
}

/* The file system's name, or NULL. */
static const char *find_type(const Mount *mount) {
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (g_str_equal(mount->destination, known[i].destination) && mount->type &&
                    g_str_equal(mount->type, known[i].type))
                        return known[i].fs_type;
        return NULL;
}

static Labelled find_labelled(const Mount *mount) {
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (g_str_equal(mount->destination, known[i].destination))
                        return known[i].labelled;
        return NOT_LABELLED;
}

bool kernel_mount_is_known(const Mount *mount, bool cgroup2) {
        return find_type(mount) && is_makeable(mount) && (cgroup2 || !g_str_equal(mount->type, "cgroup"));
}

/* No link is followed: where an image has a link in the place of /proc, the container does not start. */
static int open_directory(int root_fd, const char *path) {
        return resolve_open(root_fd, path, O_PATH | O_DIRECTORY, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* In its parent, by a name alone: mkdirat(2) would follow a link on the way, which somebody who shares the root directory
 * may put there at this moment, to the host's root. */
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

/* What the runtime spec wants in every /dev, the links that the C library and shells expect, and the mount points of what
 * is mounted next: /dev is open here. The umask is 0. */
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

        for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
                if (mknodat(dev, nodes[i].name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) < 0)
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", nodes[i].name);
        for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
                if (symlinkat(links[i][1], dev, links[i][0]) < 0)
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", links[i][0]);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (mkdirat(dev, directories[i], 0755) < 0)
                        return error_set_errno(error, errno, "Cannot make the container's '/dev/%s'", directories[i]);
        return true;
}

static void label_root(int root_fd, const Mount *mount, const MountLabel *label) {
        _cleanup_close_ int fd = resolve_open(root_fd, mount->destination + 1, O_RDONLY | O_DIRECTORY, 0,
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

int kernel_mount_make_detached(const Mount *wanted, const MountLabel *label, GError **error) {
        _cleanup_close_ int context = (int) syscall(SYS_fsopen, find_type(wanted), FSOPEN_CLOEXEC), fd = -1;
        guint64 attributes = 0;
        unsigned long flag = 0;
        bool ok = context >= 0 &&
                  syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "source", wanted->source, 0) == 0;

        for (size_t i = 0; ok && i < wanted->options_len; i++)
                if (!find_flag(wanted->options[i], &flag))
                        ok = set_option(context, wanted->options[i]);
                else
                        attributes |= (flag & MS_NOSUID ? MOUNT_ATTR_NOSUID : 0) |
                                      (flag & MS_NOEXEC ? MOUNT_ATTR_NOEXEC : 0) |
                                      (flag & MS_NODEV ? MOUNT_ATTR_NODEV : 0) |
                                      (flag & MS_RDONLY ? MOUNT_ATTR_RDONLY : 0) |
                                      (flag & MS_STRICTATIME ? MOUNT_ATTR_STRICTATIME : 0);
        if (ok && find_labelled(wanted) == AS_MOUNT)
                ok = mount_label_configure(label, context);
        if (ok && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                fd = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
        if (fd < 0)
                error_set_errno(error, errno, "Cannot mount the container's '%s'", wanted->destination);
        else if (!g_str_equal(wanted->destination, "/dev") || fill_dev(fd, error))
                return fd_steal(&fd);
        return -1;
}

bool kernel_mount_attach(int root_fd, const Mount *wanted, int mount, GError **error) {
        if (!enter_mount_point(root_fd, wanted->destination, error))
                return false;
        return syscall(SYS_move_mount, mount, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "Cannot mount the container's '%s'", wanted->destination);
}

bool kernel_mount_make(int root_fd, const Mount *wanted, const MountLabel *label, GError **error) {
        g_autoptr(GString) data = g_string_new(NULL);
        unsigned long all = 0, flag = 0;

        for (size_t i = 0; i < wanted->options_len; i++) {
                const char *option = wanted->options[i];

                if (find_flag(option, &flag))
                        all |= flag;
                else
                        g_string_append_printf(data, "%s%s", data->len > 0 ? "," : "", option);
        }
        if (find_labelled(wanted) == AS_MOUNT)
                mount_label_append(label, data);
        if (!enter_mount_point(root_fd, wanted->destination, error))
                return false;
        if (mount(wanted->source, ".", find_type(wanted), all, data->str) < 0)
                return error_set_errno(error, errno, "Cannot mount the container's '%s'", wanted->destination);
        if (label->text && find_labelled(wanted) == AS_FILE)
                label_root(root_fd, wanted, label);
        return !g_str_equal(wanted->destination, "/dev") || open_and_fill_dev(root_fd, error);
}

dev_t *kernel_mounts_devices(int root_fd, runtime_spec_schema_defs_mount *const *mounts, size_t n) {
        dev_t *devices = g_new0(dev_t, n);
        struct stat st;

        for (size_t i = 0; i < n; i++)
                if (find_type(mounts[i]) &&
                    fstatat(root_fd, mounts[i]->destination + 1, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        devices[i] = st.st_dev;
        return devices;
}

bool kernel_mounts_check(int root_fd, runtime_spec_schema_defs_mount *const *mounts, size_t n, const dev_t *devices,
                         GError **error) {
        g_autofree dev_t *now = kernel_mounts_devices(root_fd, mounts, n);

        for (size_t i = 0; i < n; i++)
                if (now[i] != devices[i])
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "Another mount has come to lie on the container's '%s': the path of a mount, or "
                                "of a VOLUME of the image, has a link in it that leads there",
                                mounts[i]->destination);
        return true;
}
