/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/printable.h"
#include "libstart/base/user-view.h"
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
static bool is_right(const struct stat *st) {
        return S_ISREG(st->st_mode) && st->st_uid == 0;
}

static bool make_ours(int fd) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return false;
        errno = EPERM;
        return is_right(&st) && ((st.st_mode & 0777) == 0600 || fchmod(fd, 0600) == 0);
}

static int open_lock(const char *path) {
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

        return fd >= 0 && make_ours(fd) ? fd_steal(&fd) : -1;
}

/* A right one that cannot be opened just now may be held. */
static bool is_wrong(const char *path) {
        struct stat st;

        return lstat(path, &st) == 0 && !is_right(&st);
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

/* "lock:  1: OFDLCK ADVISORY  READ -1 00:1a:1234 0 EOF" */
static bool is_lock_of(const char *line, const char *file) {
        return g_str_has_prefix(line, "lock:") && strstr(line, file);
}

static bool has_lock(const char *process, const char *descriptor, const char *file) {
        g_autofree char *path = g_strdup_printf("/proc/%s/fdinfo/%s", process, descriptor), *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return false;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (is_lock_of(*line, file))
                        return true;
        return false;
}

static bool holds(const char *process, const char *file) {
        g_autofree char *directory = g_strdup_printf("/proc/%s/fdinfo", process);
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (has_lock(process, name, file))
                        return true;
        return false;
}

/* A name is its process's to choose. */
static char *describe(const char *process) {
        g_autofree char *path = g_build_filename("/proc", process, NULL);
        g_autofree char *name_path = g_build_filename(path, "comm", NULL), *name = NULL, *shown = NULL;
        struct stat st = { 0 };

        (void) stat(path, &st);
        (void) g_file_get_contents(name_path, &name, NULL, NULL);
        shown = printable(name ? g_strchomp(name) : "?");
        return g_strdup_printf("process %s (%s) of user %u", process, shown, st.st_uid);
}

/* Who has a lock (fcntl(2)) of the file that `fd` is open on: "process 12 (podman) of user 0". The kernel tells it in
 * /proc/PID/fdinfo, also of locks that belong to an open file, for which F_OFD_GETLK and /proc/locks have no number.
 * What the others have open is not looked at: it may be a payload's FUSE, which never answers.
 * Transfer full; NULL: nobody, or nobody who is seen. */
static char *find_holder(int fd) {
        g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
        g_autofree char *file = NULL;
        const char *name;
        struct stat st;

        if (fstat(fd, &st) < 0)
                return NULL;
        file = g_strdup_printf(" %02x:%02x:%ju ", major(st.st_dev), minor(st.st_dev), (uintmax_t) st.st_ino);
        while (dir && (name = g_dir_read_name(dir)))
                if (g_ascii_isdigit(name[0]) && holds(name, file))
                        return describe(name);
        return NULL;
}

static int locked = -1;

bool network_lock(GError **error) {
        const char *path = user_view_is_here() ? USERS_LOCK : LOCK;
        _cleanup_close_ int fd = -1;

        (void) mkdir("/run/lock", 0755);
        fd = open_lock(path);
        /* Or else whoever is the first to make it keeps all bridges from being made. */
        if (fd < 0 && is_wrong(path)) {
                if (unlink(path) < 0 && errno != ENOENT && (errno != EISDIR || rmdir(path) < 0))
                        return error_set_errno(error, errno, "Cannot use '%s': remove it", path);
                fd = open_lock(path);
        }
        if (fd < 0)
                return error_set_errno(error, errno, "Cannot use '%s'", path);
        if (!wait_for(fd)) {
                g_autofree char *holder = find_holder(fd);

                return error_set(error, KT_ERROR_FAILED, "'%s' is locked for %d s by %s: end it", path, PATIENCE,
                                 holder ?: "a process that cannot be found");
        }
        locked = fd_steal(&fd);
        return true;
}

void network_unlock(void) {
        fd_close(&locked);
}
