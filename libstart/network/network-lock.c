/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/network/network-lock.h"

/* containers/common's, for root. */
#define LOCK "/run/lock/netavark.lock"

/* On Debian everybody may make files in /run/lock: one of somebody else's is no lock. */
static bool is_ours(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0;
}

static int open_lock(void) {
        _cleanup_close_ int fd = open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

        if (fd < 0)
                return -1;
        if (!is_ours(fd)) {
                errno = EPERM;
                return -1;
        }
        return fd_steal(&fd);
}

int network_lock(GError **error) {
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        _cleanup_close_ int fd = -1;

        (void) mkdir("/run/lock", 0755);
        fd = open_lock();
        /* Or else whoever is the first to make it keeps all bridges from being made. */
        if (fd < 0 && (unlink(LOCK) == 0 || rmdir(LOCK) == 0))
                fd = open_lock();
        if (fd < 0) {
                error_set_errno(error, errno, "Cannot use '%s': remove it", LOCK);
                return -1;
        }
        while (fcntl(fd, F_OFD_SETLKW, &whole) < 0)
                if (errno != EINTR) {
                        error_set_errno(error, errno, "Cannot lock '%s'", LOCK);
                        return -1;
                }
        return fd_steal(&fd);
}
