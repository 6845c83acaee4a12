/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"
#include "libstart/mount/root-file.h"
#include "libstart/mount/writable-layer.h"

#define SIZE_LIMIT (4U << 20)

static int open_in_root(int root_fd, const char *path, int flags, mode_t mode) {
        return resolve_open(root_fd, path, flags, mode, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* The image may have anything in the place of a file. To open a device can start a watchdog, or rewind a tape: the
 * root is nodev, so that the kernel refuses it (EACCES). To open a FIFO would wait: O_NONBLOCK. Sockets cannot be
 * opened (ENXIO). */
static bool fail_open(int root_fd, const char *path, int errnum, GError **error) {
        _cleanup_close_ int fd = open_in_root(root_fd, path, O_PATH, 0);
        struct stat st;

        if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
                return error_set(error, KT_ERROR_FAILED, "'%s' of the image is not a regular file", path);
        return error_set_errno(error, errnum, "Cannot open '%s' of the image", path);
}

bool root_file_read(int root_fd, const char *path, char **ret_content, GError **error) {
        _cleanup_close_ int fd = open_in_root(root_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
        g_autofree char *name = g_strdup_printf("'%s' of the image", path);

        *ret_content = NULL;
        if (fd >= 0)
                return file_read_fd(fd, name, SIZE_LIMIT, ret_content, NULL, error);
        return errno == ENOENT || errno == ENOTDIR || fail_open(root_fd, path, errno, error);
}

bool root_file_write(int root_fd, const char *path, const char *content, GError **error) {
        _cleanup_close_ int fd = open_in_root(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY,
                                              0644);

        if (fd < 0 || !fd_write_all(fd, content, strlen(content)))
                return error_set_errno(error, errno, "Cannot write '%s' of the container%s", path,
                                       writable_layer_hint(errno));
        return true;
}

static bool fail_directory(const char *path, int errnum, GError **error) {
        return error_set_errno(error, errnum, "Cannot make the directory '%s' of the container%s", path,
                               errnum == EACCES ?
                                       " (in Rootfs= all is nobody's in a user namespace: make the directory "
                                       "there, or write Rootfs=DIRECTORY:idmap or :O)" :
                                       "");
}

bool root_file_make_directory(int root_fd, const char *path, uid_t uid, gid_t gid, GError **error) {
        _cleanup_close_ int at = open_in_root(root_fd, path, O_PATH | O_DIRECTORY, 0);
        g_auto(GStrv) names = NULL;

        if (at >= 0)
                return true;
        at = open_in_root(root_fd, ".", O_PATH | O_DIRECTORY, 0);
        names = g_strsplit(path, "/", -1);
        g_autoptr(GString) so_far = g_string_new(NULL);
        bool made = false;
        int errnum = errno;

        for (char **name = names; *name && at >= 0; name++) {
                if (**name == '\0')
                        continue;
                g_string_append_printf(so_far, "/%s", *name);
                made = mkdirat(at, *name, 0755) == 0;
                errnum = errno;
                close(at);
                at = open_in_root(root_fd, so_far->str, O_PATH | O_DIRECTORY, 0);
        }
        if (at < 0)
                return fail_directory(path, errno == ENOENT ? errnum : errno, error);
        if (made && (uid || gid) && fchownat(at, "", uid, gid, AT_EMPTY_PATH) < 0)
                return error_set_errno(error, errno, "Cannot change the owner of '%s'", path);
        return true;
}

bool root_file_check_directory(int root_fd, const char *path, GError **error) {
        _cleanup_close_ int at = open_in_root(root_fd, path, O_PATH | O_DIRECTORY, 0);

        if (at >= 0)
                return true;
        return error_set(error, KT_ERROR_NOT_EXECUTABLE, "Cannot use the container's working directory '%s': %s",
                         path, error_describe(errno));
}

static bool make_empty_file(int root_fd, const char *path, GError **error) {
        g_autofree char *parent = g_path_get_dirname(path);
        _cleanup_close_ int fd = -1;

        if (!root_file_make_directory(root_fd, parent, 0, 0, error))
                return false;
        fd = open_in_root(root_fd, path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, 0755);
        return fd >= 0 || error_set_errno(error, errno, "Cannot make '%s' in the container", path);
}

static bool make_mount_point(int root_fd, const char *path, int source, GError **error) {
        struct stat st;

        if (fstat(source, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at what is to be on '%s' in the container", path);
        return S_ISDIR(st.st_mode) ? root_file_make_directory(root_fd, path, 0, 0, error) :
                                     make_empty_file(root_fd, path, error);
}

/* Sets *ret_linked where a link was followed. */
static int open_mount_point(int root_fd, const char *path, bool *ret_linked) {
        int fd = resolve_open(root_fd, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

        *ret_linked = fd < 0 && errno == ELOOP;
        return *ret_linked ? open_in_root(root_fd, path, O_PATH, 0) : fd;
}

/* A link of the image, or of another writer to a volume, must not lead a mount over the kernel's files and their
 * masks. A file that names such a place itself may have it. */
static bool check_led_aside(int root_fd, int fd, const char *path, GError **error) {
        struct stat dev, st;
        struct statfs fs;

        if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at '%s' in the container", path);
        if (fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC && fs.f_type != CGROUP2_SUPER_MAGIC &&
            fs.f_type != DEVPTS_SUPER_MAGIC &&
            (fs.f_type != TMPFS_MAGIC || fstatat(root_fd, "dev", &dev, AT_SYMLINK_NOFOLLOW) < 0 ||
             dev.st_dev != st.st_dev))
                return true;
        return error_set(
                error, KT_ERROR_FAILED,
                "Cannot mount on the container's '/%s': a link in it leads into /proc, /sys or /dev; name the "
                "path without links",
                path);
}

int root_file_open_mount_point(int root_fd, const char *path, int source, GError **error) {
        bool linked;
        _cleanup_close_ int fd = open_mount_point(root_fd, path, &linked);

        if (fd < 0 && errno == ENOENT) {
                if (!make_mount_point(root_fd, path, source, error))
                        return -1;
                fd = open_mount_point(root_fd, path, &linked);
        }
        if (fd < 0)
                return error_negative_errno(error, errno, "Cannot open '%s' in the container", path);
        return !linked || check_led_aside(root_fd, fd, path, error) ? fd_steal(&fd) : -1;
}

bool root_file_check_mount_point(int root_fd, const char *path, GError **error) {
        bool linked;
        _cleanup_close_ int fd = open_mount_point(root_fd, path, &linked);

        return fd < 0 || !linked || check_led_aside(root_fd, fd, path, error);
}
