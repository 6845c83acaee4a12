/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <unistd.h>

/* A file descriptor that closes itself at the end of its scope: `_cleanup_close_ int fd = -1;` */
#define _cleanup_close_ __attribute__((cleanup(fd_closep)))

static inline void fd_closep(const int *fd) {
        if (*fd >= 0)
                close(*fd);
}

/* Hands over ownership: returns *fd and leaves -1. */
static inline int fd_steal(int *fd) {
        int r = *fd;

        *fd = -1;
        return r;
}
