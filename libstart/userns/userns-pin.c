/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/userns/userns-pin.h"
#include "libstart/value/id-map.h"

static char *find_directory(const char *unit) {
        return g_build_filename(PATH_USERNS, unit, NULL);
}

static char *find_path(const char *unit, const GArray *uids, const GArray *gids, uid_t maker) {
        g_autofree char *uid_text = id_map_format(uids), *gid_text = id_map_format(gids);
        g_autofree char *maker_text = maker == 0 ? g_strdup("") : g_strdup_printf("\n%u", maker);
        g_autofree char *all = g_strconcat(uid_text, "\n", gid_text, maker_text, NULL);
        g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);

        return g_build_filename(PATH_USERNS, unit, name, NULL);
}

/* What begins with a dot is dynamic-ids.c's, which chooses before it is pinned. */
static bool empty(const char *directory, bool keep_hidden, GError **error) {
        g_auto(GStrv) names = directory_list(directory, error);

        for (char **name = names; name && *name; name++) {
                g_autofree char *path = g_build_filename(directory, *name, NULL);

                if (keep_hidden && (*name)[0] == '.')
                        continue;
                (void) umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
                if (unlink(path) < 0)
                        return error_set_errno(error, errno, "Cannot remove '%s'", path);
        }
        return names;
}

bool userns_pin_remove(const char *unit, GError **error) {
        g_autofree char *directory = find_directory(unit);

        return empty(directory, false, error) && (rmdir(directory) == 0 || errno == ENOENT ||
                                                  error_set_errno(error, errno, "Cannot remove '%s'", directory));
}

bool userns_pin_make(const char *unit, int fd, const GArray *uids, const GArray *gids, uid_t maker, GError **error) {
        g_autofree char *directory = find_directory(unit), *path = find_path(unit, uids, gids, maker);
        char source[64];
        _cleanup_close_ int file = -1;

        if (!empty(directory, true, error))
                return false;
        snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
        if (!directory_make(PATH_USERNS, 0700, error) || !directory_make(directory, 0700, error))
                return false;
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 && mount(source, path, NULL, MS_BIND, NULL) == 0)
                return true;
        error_set_errno(error, errno, "Cannot pin a user namespace as '%s'", path);
        (void) userns_pin_remove(unit, NULL);
        return false;
}

int userns_pin_open(const char *unit, const GArray *uids, const GArray *gids, uid_t maker, char **ret_path) {
        g_autofree char *path = find_path(unit, uids, gids, maker);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

        /* What somebody has unmounted is an empty file. */
        if (fd >= 0 && ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWUSER)
                fd_close(&fd);
        if (fd >= 0)
                *ret_path = g_steal_pointer(&path);
        return fd;
}
