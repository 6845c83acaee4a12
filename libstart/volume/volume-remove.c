/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/volume/tree-copy.h"
#include "libstart/volume/volume-remove.h"
#include "libstart/volume/volume-users.h"
#include "libstart/volume/volume-witness.h"

/* No volume of Podman's has a name that begins with a dot. */
#define REMOVING ".removing-"

/* Gone at once for who looks for it, whatever becomes of what is in it. */
static bool move_and_remove(int parent, const char *name, const char *aside, GError **error) {
        if (renameat2(parent, name, parent, aside, RENAME_NOREPLACE) < 0)
                return error_set_errno(error, errno, "Cannot move the volume '%s'", name);
        return tree_remove(parent, aside, error);
}

bool volume_remove(const char *directory, const char *name, GError **error) {
        g_autofree char *aside = g_strconcat(REMOVING, name, NULL), *reason = NULL;
        _cleanup_close_ int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), volume = -1;
        g_autoptr(GError) failed = NULL;

        if (parent < 0 || flock(parent, LOCK_EX) < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot open '%s'", directory);
        if (!tree_remove(parent, aside, error)) /* somebody was stopped half-way */
                return false;
        volume = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (volume < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot open the volume '%s'", name);
        reason = (user_view_is_entered() ? volume_witness_ask : volume_find_user)(volume, name, &failed);
        if (failed) {
                g_propagate_error(error, g_steal_pointer(&failed));
                return false;
        }
        if (!reason)
                return move_and_remove(parent, name, aside, error);
        log_warning("The volume '%s' stays: %s", name, reason);
        return true;
}
