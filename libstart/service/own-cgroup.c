/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/service/own-cgroup.h"

#define ROOT "/sys/fs/cgroup"

static bool write_at(int directory, const char *name, const char *text) {
        _cleanup_close_ int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text);
}

/* All that systemd has to walk through when the service stops. */
#define DESCENDANTS_MAX "4096"
#define DEPTH_MAX "32"

/* With Delegate=yes, systemd leaves this mark. */
static bool is_delegated(int directory) {
        char mark[8];
        ssize_t n = fgetxattr(directory, "trusted.delegate", mark, sizeof mark);

        return n == 1 && mark[0] == '1';
}

/* What a payload before has set in one that stayed, as "frozen", is not for this one. */
static bool make(int directory) {
        bool made = mkdirat(directory, OWN_CGROUP, 0755) == 0;

        if (!made && errno == EEXIST && unlinkat(directory, OWN_CGROUP, AT_REMOVEDIR) == 0)
                made = mkdirat(directory, OWN_CGROUP, 0755) == 0;
        return made || errno == EEXIST || errno == EBUSY;
}

static bool prepare(int directory) {
        return write_at(directory, "cgroup.max.descendants", DESCENDANTS_MAX) &&
               write_at(directory, "cgroup.max.depth", DEPTH_MAX) && make(directory);
}

/* Where ProtectControlGroups= has made what is mounted read-only. Of the control groups, or -1. */
static int mount_writable(void) {
        _cleanup_close_ int context = (int) syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC);

        if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -1;
        return (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                             MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/* Returns the service's, or -1. path: transfer full. */
static int open_services(char **path, GError **error) {
        g_autofree char *cgroup = process_find_cgroup(0);
        _cleanup_close_ int directory = -1, mount = -1;

        *path = g_strconcat(ROOT, cgroup, NULL);
        directory = cgroup ? open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (directory < 0)
                return error_negative_errno(error, cgroup ? errno : ENOENT,
                                            "Cannot open the service's control group");
        if (prepare(directory))
                return fd_steal(&directory);
        mount = errno == EROFS ? mount_writable() : -1;
        if (mount >= 0) {
                close(directory);
                directory = openat(mount, cgroup[1] ? cgroup + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        if (mount >= 0 && directory >= 0 && prepare(directory))
                return fd_steal(&directory);
        return error_negative_errno(error, errno, "Cannot give the payload a control group of its own ('%s/%s')",
                                    *path, OWN_CGROUP);
}

static bool is_unified(void) {
        struct statfs fs;

        return statfs(ROOT, &fs) < 0 || fs.f_type == CGROUP2_SUPER_MAGIC;
}

bool own_cgroup_make(int *ret, GError **error) {
        g_autofree char *path = NULL;
        _cleanup_close_ int directory = -1;

        *ret = -1;
        if (!is_unified())
                return true;
        directory = open_services(&path, error);
        if (directory < 0)
                return false;
        *ret = openat(directory, OWN_CGROUP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return *ret >= 0 || error_set_errno(error, errno, "Cannot open '%s/%s'", path, OWN_CGROUP);
}

bool own_cgroup_join(int cgroup, GError **error) {
        return write_at(cgroup, "cgroup.procs", "0") ||
               error_set_errno(error, errno, "Cannot go into the payload's control group");
}

/* Each by itself: one that cannot be had is left out. */
static void pass_on_controllers(int directory, const char *path) {
        g_autofree char *file = g_build_filename(path, "cgroup.controllers", NULL), *text = NULL;
        g_auto(GStrv) names = NULL;

        if (!g_file_get_contents(file, &text, NULL, NULL))
                return;
        names = g_strsplit(g_strchomp(text), " ", -1);
        for (guint i = 0; names[i]; i++) {
                g_autofree char *word = g_strconcat("+", names[i], NULL);

                if (*names[i] && !write_at(directory, "cgroup.subtree_control", word))
                        log_debug("The payload does not get the controller '%s': %s", names[i], g_strerror(errno));
        }
}

/* What cgroups(7) names for a delegation. */
static bool give(int directory, uid_t uid, gid_t gid) {
        static const char *const files[] = {
                OWN_CGROUP,
                OWN_CGROUP "/cgroup.procs",
                OWN_CGROUP "/cgroup.threads",
                OWN_CGROUP "/cgroup.subtree_control",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                if (fchownat(directory, files[i], uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
                        return false;
        return true;
}

bool own_cgroup_enter(uid_t uid, gid_t gid, GError **error) {
        g_autofree char *path = NULL;
        _cleanup_close_ int directory = open_services(&path, error);

        if (directory < 0)
                return false;
        if (!write_at(directory, OWN_CGROUP "/cgroup.procs", "0") || !give(directory, uid, gid))
                return error_set_errno(error, errno, "Cannot give the payload, an init, its control group ('%s/%s')",
                                       path, OWN_CGROUP);
        if (is_delegated(directory))
                pass_on_controllers(directory, path);
        else
                log_notice("The payload is an init, and has no controllers: add Delegate=yes to [Service]");
        return true;
}
