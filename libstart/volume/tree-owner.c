/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/volume/tree-owner.h"

#define DEPTH_MAX 500 /* each level takes two descriptors */

typedef struct Change {
        uid_t uid;
        gid_t gid;
        guint64 mount;
        unsigned depth, n_left;
} Change;

/* The mount and not the device tells whether something else is mounted there: on an overlay, files and directories
 * have different devices. */
static bool look(int fd, struct statx *ret) {
        return statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, ret) == 0;
}

static bool change_entries(Change *change, int directory);

/* An entry is opened first, and then looked at and changed by its descriptor: nobody can put another in its place. */
static bool change_one(Change *change, int fd) {
        struct statx st;
        bool differs;

        if (!look(fd, &st))
                return false;
        if (st.stx_mnt_id != change->mount)
                return true;
        differs = st.stx_uid != change->uid || st.stx_gid != change->gid;
        if (!S_ISDIR(st.stx_mode) && st.stx_nlink > 1) {
                change->n_left += differs;
                return true;
        }
        if (differs && fchownat(fd, "", change->uid, change->gid, AT_EMPTY_PATH) < 0)
                return false;
        return !S_ISDIR(st.stx_mode) || change_entries(change, fd);
}

static bool change_entries(Change *change, int directory) {
        g_autoptr(DIR) entries = directory_open(directory);
        const char *entry = NULL;
        bool ok = entries;

        if (++change->depth > DEPTH_MAX) {
                errno = ELOOP;
                ok = false;
        }
        while (ok && (entry = directory_next(entries))) {
                _cleanup_close_ int one = openat(directory, entry, O_PATH | O_NOFOLLOW | O_CLOEXEC);

                ok = one >= 0 ? change_one(change, one) : errno == ENOENT;
        }
        ok = ok && errno == 0;
        change->depth--;
        return ok;
}

bool tree_change_owner(int fd, const char *path, uid_t uid, gid_t gid, GError **error) {
        Change change = { .uid = uid, .gid = gid };
        struct statx st;

        if (!look(fd, &st))
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        change.mount = st.stx_mnt_id;
        if (!change_one(&change, fd))
                return errno == ELOOP ?
                               error_set(error, KT_ERROR_FAILED,
                                         "Cannot change the owner of what is in '%s' (U): there are over %d "
                                         "directories in each other; remove them, or U",
                                         path, DEPTH_MAX) :
                               error_set_errno(error, errno, "Cannot change the owner of what is in '%s' (U)", path);
        if (change.n_left > 0)
                log_notice("%u files in '%s' have several names (hard links) and keep their owner", change.n_left,
                           path);
        return true;
}

bool tree_check_owner_change(int fd, const char *path, GError **error) {
        static const char *const systems[] = {
                "/",     "/bin",  "/boot", "/dev",  "/etc", "/home", "/lib", "/lib64", "/media", "/mnt",     "/opt",
                "/proc", "/root", "/run",  "/sbin", "/srv", "/sys",  "/tmp", "/usr",   "/var",   "/var/lib", NULL,
        };

        g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd), *real = g_file_read_link(link, NULL);

        return (!g_strv_contains(systems, path) && real && !g_strv_contains(systems, real)) ||
               error_set(error, KT_ERROR_USAGE,
                         "mount option 'U' would give all of '%s' to the payload's user: name a directory below it",
                         path);
}
