/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/network/lock-holder.h"
#include "libstart/network/network-lock.h"

/* containers/common's, for root. */
#define LOCK "/run/lock/netavark.lock"
#define USERS_LOCK PATH_RUN "/.netavark.lock" /* in the view, where root is the user */

/* Seconds: fifty containers one after the other. Before systemd's patience ends (TimeoutSec= of the unit), so that
 * somebody says why. */
#define PATIENCE 45

/* On Debian everybody may make files in /run/lock: one of somebody else's is no lock. Podman makes it readable for
 * all, and who may read it may lock it: so it is made private. Who has it open already keeps it; to put another in
 * its place would let us and a Podman that waits for this one work at the same time. */
static bool is_ours(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
               ((st.st_mode & 0777) == 0600 || fchmod(fd, 0600) == 0);
}

static int open_lock(const char *path) {
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

        if (fd < 0)
                return -1;
        if (!is_ours(fd)) {
                errno = EPERM;
                return -1;
        }
        return fd_steal(&fd);
}

static volatile sig_atomic_t out_of_patience;

static void lose_patience(G_GNUC_UNUSED int signal) {
        out_of_patience = 1;
}

/* The signal ends the wait; it comes again, as the first one may come just before. */
static bool wait_for(int fd) {
        const struct sigaction interrupt = { .sa_handler = lose_patience };
        const struct itimerval patience = { { 1, 0 }, { PATIENCE, 0 } }, none = { 0 };
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        int r;

        if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
                return true;
        (void) sigaction(SIGALRM, &interrupt, NULL);
        (void) setitimer(ITIMER_REAL, &patience, NULL);
        while ((r = fcntl(fd, F_OFD_SETLKW, &whole)) < 0 && errno == EINTR && !out_of_patience)
                ;
        (void) setitimer(ITIMER_REAL, &none, NULL);
        return r == 0;
}

int network_lock(GError **error) {
        const char *path = user_view_is_here() ? USERS_LOCK : LOCK;
        _cleanup_close_ int fd = -1;

        (void) mkdir("/run/lock", 0755);
        fd = open_lock(path);
        /* Or else whoever is the first to make it keeps all bridges from being made. */
        if (fd < 0 && (unlink(path) == 0 || rmdir(path) == 0))
                fd = open_lock(path);
        if (fd < 0) {
                error_set_errno(error, errno, "Cannot use '%s': remove it", path);
                return -1;
        }
        if (!wait_for(fd)) {
                g_autofree char *holder = lock_holder_find(fd);

                error_set(error, KT_ERROR_FAILED, "'%s' is locked for %d s by %s: end it", path, PATIENCE,
                          holder ?: "a process that cannot be found");
                return -1;
        }
        return fd_steal(&fd);
}
