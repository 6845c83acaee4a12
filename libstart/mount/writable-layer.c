/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/mount/writable-layer.h"

/* The threat: a payload that writes as much as it can, or as many files, or as deep a tree. On /run, where the
 * machine's own services keep their state, no unit would start any more, and systemd would have to remove what it
 * made, name by name.
 *
 * So what it writes has a file system of its own, with a limit for the content and one for the number of inodes,
 * which are kernel memory of 1 to 2 KiB each. The host's mount namespace never has it. In the container it lies below
 * the root until the host's tree is detached, and goes with that: then only the overlay, or a file mounted from it,
 * leads to it. It vanishes as a whole with the last process of the container; nothing of it is ever removed by name.
 * The memory counts as the unit's (MemoryMax=).
 *
 * Not limited: POSIX ACLs, up to 256 KiB of the kernel's memory for each inode. */

/* A tenth, as systemd-logind gives to a user's /run/user: 51 MiB of 512. */
#define DEFAULT_PERCENT 10
/* Where the number of inodes is not said: so many that files with content meet the other limit first. */
#define SIZE_PER_INODE 4096U
#define DEFAULT_INODES_MIN 1024U

static bool find_limits(const StorageLimits *wanted, StorageLimits *ret, GError **error) {
        StorageLimits limits = *wanted;
        struct sysinfo machine;

        if (limits.size == 0) {
                if (sysinfo(&machine) < 0)
                        return error_set_errno(error, errno, "Cannot ask for the size of the machine's memory");
                limits.size = (guint64) machine.totalram * machine.mem_unit / 100 *
                              (limits.percent ?: DEFAULT_PERCENT);
        }
        if (limits.inodes == 0)
                limits.inodes = MAX(limits.size / SIZE_PER_INODE, DEFAULT_INODES_MIN);
        *ret = limits;
        return true;
}

static bool set_limit(int context, const char *key, guint64 value) {
        char text[32];

        g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
        return syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, text, 0) == 0;
}

bool writable_layer_make(const StorageLimits *wanted, const MountLabel *label, WritableLayer *ret, GError **error) {
        _cleanup_close_ int context = -1;
        StorageLimits limits = { 0 };

        *ret = (WritableLayer) WRITABLE_LAYER_NULL;
        if (!find_limits(wanted, &limits, error))
                return false;
        context = (int) syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
        if (context >= 0 && set_limit(context, "size", limits.size) &&
            set_limit(context, "nr_inodes", limits.inodes) && mount_label_configure(label, context) &&
            syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                ret->mount = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                                           MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
        return ret->mount >= 0 || error_set_errno(error, errno, "Cannot make the container's writable layer");
}

const char *writable_layer_hint(int errnum) {
        return errnum == ENOSPC ?
                       " (the writable layer is too small for what a start needs: see WritableLayerSize= and "
                       "WritableLayerInodes= in keyturn.container(5))" :
                       "";
}

void writable_layer_close_directories(WritableLayer *layer) {
        fd_close(&layer->upper);
        fd_close(&layer->work);
}

void writable_layer_close(WritableLayer *layer) {
        writable_layer_close_directories(layer);
        fd_close(&layer->mount);
}
