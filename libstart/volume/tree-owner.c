/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/volume/tree-owner.h"
#include "libstart/volume/tree-walk.h"

typedef struct Change {
        uid_t uid;
        gid_t gid;
        unsigned n_left;
} Change;

static bool change_one(int fd, const struct statx *st, const char *name, void *data, GError **error) {
        Change *change = data;
        bool differs = st->stx_uid != change->uid || st->stx_gid != change->gid;

        if (g_str_equal(name, "."))
                change->n_left = 0;
        if (!S_ISDIR(st->stx_mode) && st->stx_nlink > 1) {
                change->n_left += differs;
                return true;
        }
        return !differs || fchownat(fd, "", change->uid, change->gid, AT_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "'%s'", name);
}

bool tree_change_owner(int fd, const char *path, uid_t uid, gid_t gid, GError **error) {
        Change change = { .uid = uid, .gid = gid };
        const TreeVisitor visitor = { .visit = change_one, .data = &change, .stays_in_mount = true };

        if (!tree_walk(fd, &visitor, error))
                return error_prefix(error, "Cannot change the owner of what is in '%s' (U): ", path);
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
