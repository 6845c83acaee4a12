/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/request/network-mode.h"
#include "libstart/run/joined-userns.h"
#include "libstart/runtime/runtime.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/value/id-map.h"

/* Whose parent is this process's own. The kernel does not say who is the parent of one outside of the own: then
 * *ret_is_outside. */
static bool is_below(int fd, bool *ret_is_outside) {
        _cleanup_close_ int parent = ioctl(fd, NS_GET_PARENT);
        struct stat a, b;

        *ret_is_outside = parent < 0 && errno == EPERM;
        return parent >= 0 && fstat(parent, &a) == 0 && stat("/proc/self/ns/user", &b) == 0 && a.st_dev == b.st_dev &&
               a.st_ino == b.st_ino;
}

static int open_below(pid_t pid, bool *ret_is_outside) {
        _cleanup_close_ int fd = -1;
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/ns/user", (int) pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        *ret_is_outside = fd < 0 && errno == EACCES;
        return fd >= 0 && is_below(fd, ret_is_outside) ? fd_steal(&fd) : -1;
}

static bool is_same(GArray *a, GArray *b, IdKind kind, bool *ret, GError **error) {
        g_autofree char *text = NULL, *other = NULL;

        if (!id_map_finish(a, kind, error) || !id_map_finish(b, kind, error))
                return false;
        text = id_map_format(a);
        other = id_map_format(b);
        *ret = g_str_equal(text, other);
        return true;
}

static bool check_ids(int fd, const char *unit, GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL, own_uids = NULL, own_gids = NULL;
        bool has_uids = false, has_gids = false;

        if (!userns_descriptor_read(fd, &uids, &gids, error) ||
            !userns_descriptor_read_own(&own_uids, &own_gids, error) ||
            !is_same(uids, own_uids, ID_UID, &has_uids, error) || !is_same(gids, own_gids, ID_GID, &has_gids, error))
                return false;
        return (has_uids && has_gids) ||
               error_set(error, KT_ERROR_USAGE, "--network: %s.service " NETWORK_MODE_OTHER_IDS, unit);
}

bool joined_userns_find(const RunningContainer *other, const char *unit, JoinedUserns *ret, GError **error) {
        g_autofree char *service = g_strconcat(unit, ".service", NULL);
        bool is_outside;
        _cleanup_close_ int fd = open_below(other->pid, &is_outside);

        if (!runtime_is_running(other->state_root, other->id))
                return error_set(error, KT_ERROR_FAILED, "%s has just ended, and its network with it", service);
        if (fd < 0 && !is_outside)
                return error_set(error, KT_ERROR_FAILED,
                                 "%s has entered another user namespace, which its network does not belong to",
                                 service);
        if (fd < 0) {
                log_notice("What %s runs in is from before keyturn-view.service was started: it starts anew",
                           service);
                return unit_restart_with_others(service, error) &&
                       error_set(error, KT_ERROR_FAILED, "The network of %s was not to be had before: start again",
                                 service);
        }
        if (!check_ids(fd, unit, error))
                return false;
        ret->path = g_strdup_printf("/proc/self/fd/%d", fd);
        ret->fd = fd_steal(&fd);
        return true;
}

void joined_userns_clear(JoinedUserns *joined) {
        g_clear_pointer(&joined->path, g_free);
        fd_close(&joined->fd);
}
