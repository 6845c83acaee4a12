/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/service/payload-input.h"

#define REMEDY "; remove StandardInput= (a container is given a device by AddDevice=, a file by Volume=)"

static bool has_name(const struct stat *st) {
        struct statfs fs;

        if (S_ISREG(st->st_mode))
                return st->st_nlink > 0;
        return !S_ISFIFO(st->st_mode) || fstatfs(STDIN_FILENO, &fs) < 0 || fs.f_type != PIPEFS_MAGIC;
}

static bool replace_input(int fd, GError **error) {
        return dup2(fd, STDIN_FILENO) >= 0 || error_set_errno(error, errno, "Cannot replace standard input");
}

static bool open_null(GError **error) {
        _cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return error_set_errno(error, errno, "Cannot open '/dev/null'");
        return replace_input(fd, error);
}

/* A pipe that is its own writer never ends. Nobody else has it. */
static bool open_endless(GError **error) {
        _cleanup_close_ int fd = -1;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a standard input for the payload");
        fd = fd_reopen(ends[0], O_RDWR | O_CLOEXEC);
        close(ends[0]);
        close(ends[1]);
        return (fd >= 0 || error_set_errno(error, errno, "Cannot open the payload's standard input")) &&
               replace_input(fd, error);
}

/* A mount of our own, of the file alone. */
static int clone_read_only(void) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC };
        _cleanup_close_ int mount = (int) syscall(SYS_open_tree, STDIN_FILENO, "",
                                                  AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

        if (mount < 0 || syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0)
                return -1;
        return fd_steal(&mount);
}

/* The offset stays: what has been read before stays read. */
static int reopen(int mount) {
        off_t offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
        _cleanup_close_ int fd = fd_reopen(mount, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0 || lseek(fd, offset, SEEK_SET) < 0)
                return -1;
        return fd_steal(&fd);
}

static bool open_read_only(GError **error) {
        _cleanup_close_ int mount = clone_read_only(), fd = mount < 0 ? -1 : reopen(mount);

        if (fd < 0)
                return error_set_errno(error, errno,
                                       "Standard input is a file of the host's, and cannot be made read-only for the "
                                       "payload" REMEDY);
        return replace_input(fd, error);
}

bool payload_input_open(bool detach, bool is_kept, GError **error) {
        struct stat st;

        if (fstat(STDIN_FILENO, &st) < 0)
                return errno == EBADF || error_set_errno(error, errno, "Cannot see what standard input is");
        if (detach && is_kept && stat_is_null(&st))
                return open_endless(error);
        if (stat_is_null(&st) || S_ISSOCK(st.st_mode) || !has_name(&st))
                return true;
        if (S_ISREG(st.st_mode))
                return open_read_only(error);
        if (!detach && isatty(STDIN_FILENO))
                return open_null(error);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "Standard input is %s of the host's, which is not given to a payload" REMEDY,
                         isatty(STDIN_FILENO) ? "a terminal" :
                         S_ISFIFO(st.st_mode) ? "a FIFO" :
                         S_ISDIR(st.st_mode)  ? "a directory" :
                                                "a device");
}
