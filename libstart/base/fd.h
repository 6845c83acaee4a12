/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A file descriptor that closes itself at the end of its scope: `_cleanup_close_ int fd = -1;` */
#define _cleanup_close_ __attribute__((cleanup(fd_closep)))

static inline void fd_closep(const int *fd) {
        if (*fd >= 0)
                close(*fd);
}

/* Closes it, unless it is -1, and leaves -1. */
static inline void fd_close(int *fd) {
        fd_closep(fd);
        *fd = -1;
}

/* All that are not -1. */
static inline void fds_close(const int *fds, size_t n_fds) {
        for (size_t i = 0; i < n_fds; i++)
                fd_closep(&fds[i]);
}

/* Hands over ownership: returns *fd and leaves -1. */
static inline int fd_steal(int *fd) {
        int r = *fd;

        *fd = -1;
        return r;
}

/* False, with errno, also where one of them cannot be seen. */
static inline bool fd_is_same_file(int fd, int other) {
        struct stat a, b;

        return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Is it /dev/null, by whatever name? */
static inline bool stat_is_null(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* The file from its beginning, where that is not longer; -1 with errno. A read(2) alone may return less. */
static inline ssize_t fd_read_begin(int fd, char *data, size_t size) {
        size_t length = 0;
        ssize_t n;

        do {
                n = pread(fd, data + length, size - length, (off_t) length);
                length += n > 0 ? (size_t) n : 0;
        } while ((n > 0 && length < size) || (n < 0 && errno == EINTR));
        return n < 0 ? -1 : (ssize_t) length;
}

/* Writes all of it; false with errno. Where there is not room for all, write(2) writes a part, and says ENOSPC only
 * then. */
static inline bool fd_write_all(int fd, const char *data, size_t length) {
        while (length > 0) {
                ssize_t n = write(fd, data, length);

                if (n < 0 && errno != EINTR)
                        return false;
                data += n > 0 ? n : 0;
                length -= n > 0 ? (size_t) n : 0;
        }
        return true;
}
