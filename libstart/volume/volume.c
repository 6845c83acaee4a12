/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/resolve.h"
#include "libstart/base/user-view.h"
#include "libstart/config/conf-value.h"
#include "libstart/store/store-conf.h"
#include "libstart/volume/tree-copy.h"
#include "libstart/volume/tree-label.h"
#include "libstart/volume/volume.h"

/* Who may open a file may lock it, and the directory may be open for others (volume_path=), unless it is a user's. */
#define LOCK PATH_RUN "/.volumes"

#define DATA "_data"
#define DATA_MODE 0755 /* until the first use */
/* Beside _data, where no payload sees it: a container has used the volume. */
#define USED ".keyturn-used"
/* In _data, since that may be a file system of its own: what is being copied, and what has been. */
#define COPYING ".keyturn-copying"
#define COPIED ".keyturn-copied"

char *volume_directory(GError **error) {
        g_autoptr(StoreConf) conf = NULL;
        char *configured;

        if (!conf_value_read_string(&conf_containers, "", "engine", "volume_path", &configured, error))
                return NULL;
        if (configured && configured[0] == '/')
                return configured;
        g_free(configured);
        conf = store_conf_load("", NULL, error);
        return conf ? g_build_filename(conf->stores[conf->n_writable - 1], "volumes", NULL) : NULL;
}

char *volume_path(const char *directory, const char *name) {
        return g_build_filename(directory, name, DATA, NULL);
}

int volumes_lock(const char *directory, GError **error) {
        bool is_users = user_view_is_entered();
        _cleanup_close_ int fd = -1;

        if (!is_users && !directory_make(PATH_RUN, 0755, error)) /* early at boot this is the first one there */
                return -1;
        fd = is_users ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
                        open(LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX) == 0)
                return fd_steal(&fd);
        return error_negative_errno(error, errno, "Cannot lock the volumes in '%s'", directory);
}

static int open_directory(int parent, const char *name) {
        return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The umask may be anything. */
static int make_directory(int parent, const char *name, mode_t mode) {
        int fd;

        if (mkdirat(parent, name, mode) < 0)
                return errno == EEXIST ? open_directory(parent, name) : -1;
        fd = open_directory(parent, name);
        if (fd >= 0)
                (void) !fchmod(fd, mode);
        return fd;
}

int volume_open_data(int volume, const char *name, GError **error) {
        int fd = open_directory(volume, DATA);

        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot open the volume '%s'", name);
}

/* An empty one in its place would be taken for it, by a database, and for ever. */
static bool check_not_aside(const char *directory, const char *name, GError **error) {
        g_autofree char *aside = g_strdup_printf("%s/" VOLUME_ASIDE "%s", directory, name);
        _cleanup_close_ int lock = -1;

        if (access(aside, F_OK) < 0)
                return true;
        lock = volumes_lock(directory, error); /* who is at it puts it back */
        return lock >= 0 &&
               (access(aside, F_OK) < 0 ||
                error_set(error, KT_ERROR_FAILED,
                          "The files of the volume '%s' are in '%s', as keyturn-volume@%s.service was interrupted: "
                          "restart that one, or the service of its .volume file, which puts them back",
                          name, aside, name));
}

int volume_open(const char *directory, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        _cleanup_close_ int fd = open_directory(AT_FDCWD, path), parent = -1, data = -1;

        if (fd >= 0 && faccessat(fd, DATA, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return fd_steal(&fd);
        if (fd >= 0 && errno != ENOENT)
                return error_negative_errno(error, errno, "Cannot open the volume '%s' in '%s'", name, directory);
        if (!check_not_aside(directory, name, error))
                return -1;
        if (fd < 0)
                fd = open_directory(AT_FDCWD, path);
        if (fd < 0) {
                if (g_mkdir_with_parents(directory, 0700) == 0)
                        parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                fd = parent >= 0 ? make_directory(parent, name, 0700) : -1;
        }
        /* Where only its files were removed, it is new as well: it is filled, and has its user's owner. */
        if (fd >= 0 && (unlinkat(fd, USED, 0) == 0 || errno == ENOENT))
                data = make_directory(fd, DATA, DATA_MODE);
        if (data < 0)
                return error_negative_errno(error, errno, "Cannot make the volume '%s' in '%s'", name, directory);
        return fd_steal(&fd);
}

static char *mounted_mark(const char *name) {
        return g_build_filename(PATH_MOUNTED, name, NULL);
}

bool volume_check_mounted(int volume, const char *name, GError **error) {
        g_autofree char *mark = mounted_mark(name);
        struct statx st;

        if (access(mark, F_OK) < 0)
                return true;
        if (statx(volume, DATA, AT_SYMLINK_NOFOLLOW, 0, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at the volume '%s'", name);
        return st.stx_attributes & STATX_ATTR_MOUNT_ROOT ||
               error_set(error, KT_ERROR_FAILED,
                         "The Device= of the volume '%s' is not mounted any more: restart the service of its .volume "
                         "file, which mounts what the file says now; or, if there is no such file, remove '%s'",
                         name, mark);
}

/* Of the service that this is; "" where that cannot be seen. Transfer full. */
static char *own_service(void) {
        g_autofree char *cgroup = process_find_cgroup(0);

        return cgroup ? g_path_get_basename(cgroup) : g_strdup("");
}

bool volume_note_mounted(const char *name, GError **error) {
        g_autofree char *mark = mounted_mark(name), *service = own_service();
        _cleanup_close_ int fd = -1;

        if (!directory_make(PATH_MOUNTED, 0700, error))
                return false;
        fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        return (fd >= 0 && fd_write_all(fd, service, strlen(service))) ||
               error_set_errno(error, errno, "Cannot write '%s'", mark);
}

bool volume_has_mounted(const char *name) {
        g_autofree char *mark = mounted_mark(name), *service = NULL, *own = NULL;

        if (!g_file_get_contents(mark, &service, NULL, NULL))
                return false;
        own = own_service();
        return service[0] && g_str_equal(service, own);
}

bool volume_forget_mounted(const char *name, GError **error) {
        g_autofree char *mark = mounted_mark(name);

        return unlink(mark) == 0 || errno == ENOENT || error_set_errno(error, errno, "Cannot remove '%s'", mark);
}

/* Each entry goes up at once, or is there already: an entry of the image's that is called like ours, or one that a
 * container has made meanwhile. */
static bool move_up(int data, int copied, const char *name, GError **error) {
        g_autoptr(DIR) entries = directory_open(copied);
        const char *entry = NULL;
        bool ok = entries;

        while (ok && (entry = directory_next(entries)))
                ok = renameat2(copied, entry, data, entry, RENAME_NOREPLACE) == 0 || errno == EEXIST;
        ok &= entry || errno == 0;
        if (!ok)
                error_set_errno(error, errno, "Cannot fill the volume '%s'", name);
        return ok && tree_remove(data, COPIED, error);
}

/* Interrupted at any time, it goes on where it was: what is not whole is called COPYING, what is called COPIED is on
 * the disk. */
static bool fill(int data, int source, const UserNamespace *users, const char *name, GError **error) {
        _cleanup_close_ int copying = -1, copied = -1;
        bool empty;

        copied = open_directory(data, COPIED);
        if (copied >= 0)
                return move_up(data, copied, name, error);
        if (!tree_remove(data, COPYING, error))
                return false;
        if (!tree_look(data, &empty))
                return error_set_errno(error, errno, "Cannot look into the volume '%s'", name);
        if (!empty)
                return true;
        copying = make_directory(data, COPYING, 0700);
        if (copying < 0)
                return error_set_errno(error, errno, "Cannot fill the volume '%s'", name);
        if (!tree_copy(source, copying, users ? users->uids : NULL, users ? users->gids : NULL, error)) {
                (void) !tree_remove(data, COPYING, NULL);
                return false;
        }
        if (syncfs(data) < 0 || renameat(data, COPYING, data, COPIED) < 0)
                return error_set_errno(error, errno, "Cannot fill the volume '%s'", name);
        return move_up(data, copying, name, error);
}

static bool has_first_owner(const struct stat *st) {
        return st->st_uid == 0 && st->st_gid == 0 && (st->st_mode & 07777) == DATA_MODE;
}

bool volume_is_new(int volume, int data) {
        struct stat st;
        bool empty;

        return fstat(data, &st) == 0 && has_first_owner(&st) && tree_look(data, &empty) && empty &&
               faccessat(volume, USED, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

/* Meanwhile it has the mode 0, which nobody else gives it, so that who is interrupted is known. */
static bool change_owner(int data, const struct stat *wanted) {
        int errnum;

        if (fchmod(data, 0) < 0)
                return false;
        if (fchown(data, wanted->st_uid, wanted->st_gid) == 0)
                return fchmod(data, wanted->st_mode & 07777) == 0;
        errnum = errno;
        (void) fchmod(data, DATA_MODE); /* a file system that knows no owners */
        errno = errnum;
        return false;
}

/* As long as it is as it was made: who made it with an owner, or gave it one, is asked for no other. */
static bool give_owner(int data, int source, const VolumeUse *use, const char *name, GError **error) {
        struct stat st, wanted;

        if (fstat(data, &st) < 0 || (source >= 0 && fstat(source, &wanted) < 0))
                return error_set_errno(error, errno, "Cannot look at the volume '%s'", name);
        if (source < 0)
                wanted = (struct stat) {
                        .st_uid = use->user->uid,
                        .st_gid = use->user->gid,
                        .st_mode = DATA_MODE,
                };
        if (!has_first_owner(&st) && (st.st_mode & 07777) != 0)
                return true;
        if (source >= 0 && use->users && !user_namespace_check_owner(use->users, &wanted, use->destination, error))
                return false;
        return change_owner(data, &wanted) ||
               error_set_errno(error, errno, "Cannot change the owner of the volume '%s'", name);
}

/* A Device= that is mounted so stays as it is, and is not used yet: mount(8) takes a disk that is protected so, too,
 * and it may be another time that it can be written to. */
static bool is_read_only(int data) {
        struct statvfs st;

        return fstatvfs(data, &st) == 0 && st.f_flag & ST_RDONLY;
}

static bool prepare(int data, const char *name, const VolumeUse *use, GError **error) {
        _cleanup_close_ int source = resolve_open(use->root_fd, use->destination, O_RDONLY | O_DIRECTORY, 0,
                                                  RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

        if (source < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
                return error_set_errno(error, errno, "Cannot look whether the image has '%s', for the volume '%s'",
                                       use->destination, name);
        if (source >= 0 && !use->no_copy && !fill(data, source, use->users, name, error))
                return error_prefix(error, "The first use of the volume '%s': ", name);
        return give_owner(data, source, use, name, error) &&
               (!use->label || tree_change_label(data, name, use->label, NULL, error));
}

/* The note is on the volume's own disk. A Device= is another one, and a power cut between the two would leave what is
 * called COPIED there, or the first owner, for ever. */
static bool sync_data(int volume, int data) {
        struct stat own, st;

        return fstat(volume, &own) == 0 && fstat(data, &st) == 0 && (own.st_dev == st.st_dev || syncfs(data) == 0);
}

static bool use_first(int volume, const char *name, const VolumeUse *use, GError **error) {
        _cleanup_close_ int data = volume_open_data(volume, name, error), used = -1;

        if (data < 0)
                return false;
        if (is_read_only(data))
                return true;
        if (!prepare(data, name, use, error))
                return false;
        if (use->is_read_only && volume_is_new(volume, data))
                return true;
        if (!sync_data(volume, data))
                return error_set_errno(error, errno, "Cannot write the volume '%s' to its disk", name);
        used = openat(volume, USED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        return used >= 0 || error_set_errno(error, errno, "Cannot note that the volume '%s' is used", name);
}

bool volume_use(int volume, const char *name, const VolumeUse *use, GError **error) {
        if (faccessat(volume, USED, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return true;
        if (flock(volume, LOCK_EX) < 0)
                return error_set_errno(error, errno, "Cannot lock the volume '%s'", name);
        /* Perhaps another container has used it while this one waited. */
        return faccessat(volume, USED, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || use_first(volume, name, use, error);
}
