/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/lease.h"
#include "libstart/base/resolve.h"

/* One try takes 1 to 3 us. Beside processes that do nothing but rename, one of 15 to 100 fails, and the longest row
 * of failures in 200,000 look-ups was four (two processors). So many in a row would need a kernel that is at it
 * without a pause, and take some 20 ms. */
#define TRIES_MAX 10000

int resolve_open(int directory_fd, const char *path, int flags, mode_t mode, uint64_t resolve) {
        const struct open_how how = {
                .flags = (uint64_t) (flags | O_CLOEXEC),
                .mode = flags & O_CREAT ? mode : 0,
                .resolve = resolve,
        };
        int fd;

        for (int i = 0; i < TRIES_MAX; i++) {
                fd = (int) syscall(SYS_openat2, directory_fd, path, &how, sizeof how);
                if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
                        return fd;
        }
        return fd;
}

int fd_reopen(int fd, int flags) {
        char path[32];

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return open(path, flags);
}

int fd_open_regular(int fd) {
        char path[32];
        struct stat st;

        if (fstat(fd, &st) < 0)
                return -1;
        if (!S_ISREG(st.st_mode)) {
                errno = EINVAL;
                return -1;
        }
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return lease_open(path);
}
