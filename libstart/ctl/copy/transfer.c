/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/ctl/copy/transfer.h"
#include "libstart/volume/tree-copy.h"

/* The threat: one of both trees is a payload's, who exchanges directories for links, and files for devices, while we
 * are at it, and who wants root on the host to have a program that is his, with set-user-id.
 *
 *  - Each entry is pinned by a descriptor first, and looked at, read and entered by that: no look-up comes after a
 *    look. Nothing but regular files and directories is opened. Links are copied, and never followed.
 *  - No file is opened for writing that was there before. Each copy is a new file, which then takes the place of what
 *    had its name: so no link, FIFO or device is written through, and nothing in /proc or /sys.
 *  - What is made in a container its user makes: with his ids, and without the capabilities that override them. So
 *    nothing is ever given to him, whatever he has put in the place of what was made.
 *  - A copy has the nine bits of its mode, and its time: no set-user-id, no capabilities, no other attributes.
 *  - What is mounted in a tree is left out: /proc has no end. So are FIFOs, on which others wait.
 *  - A tree that grows while it is copied, or has more than the host's disk, ends at the limit: bytes count when they
 *    are copied, as a hole is filled meanwhile. */

#define DEPTH_MAX 200 /* each level takes four descriptors */

/* What an entry takes beside its content. */
#define ENTRY_SIZE 512U

static bool fail(const Transfer *transfer, GError **error) {
        if (transfer->rights && (errno == EACCES || errno == EPERM))
                return error_set_errno(error, errno, "Cannot copy '%s' as the container's user %u",
                                       transfer->path->str, (unsigned) transfer->uid);
        return error_set_errno(error, errno, "Cannot copy '%s'", transfer->path->str);
}

static bool take(Transfer *transfer, guint64 size, GError **error) {
        if (size > transfer->limit)
                return error_set(error, KT_ERROR_FAILED,
                                 "There is more to copy than the limit allows: '%s' is not copied; say more with "
                                 "--limit=SIZE",
                                 transfer->path->str);
        transfer->limit -= size;
        return true;
}

/*
 * In whose name
 */

/* What root may do with files that are not his. */
static const cap_value_t overriding[] = { CAP_CHOWN,  CAP_DAC_OVERRIDE,    CAP_DAC_READ_SEARCH, CAP_FOWNER,
                                          CAP_FSETID, CAP_LINUX_IMMUTABLE, CAP_MAC_OVERRIDE,    CAP_MKNOD };

struct Rights {
        uid_t uid; /* the caller's */
        gid_t gid;
        cap_t callers, owners;
};

bool transfer_make_as_owner(Transfer *transfer, GError **error) {
        struct Rights *rights = g_new0(struct Rights, 1);

        *rights = (struct Rights) { geteuid(), getegid(), cap_get_proc(), cap_get_proc() };
        transfer->rights = rights;
        return (rights->callers && rights->owners &&
                cap_set_flag(rights->owners, CAP_EFFECTIVE, G_N_ELEMENTS(overriding), overriding, CAP_CLEAR) == 0 &&
                setgroups(0, NULL) == 0) ||
               error_set_errno(error, errno, "Cannot take the rights of the container's user");
}

void transfer_clear(Transfer *transfer) {
        if (!transfer->rights)
                return;
        (void) cap_free(transfer->rights->callers);
        (void) cap_free(transfer->rights->owners);
        g_clear_pointer(&transfer->rights, g_free);
}

/* The kernel takes and gives back some capabilities with the id of files; which there are is said after that. */
static bool change_rights(uid_t uid, gid_t gid, cap_t capabilities, GError **error) {
        (void) setfsgid(gid);
        (void) setfsuid(uid);
        return ((uid_t) setfsuid((uid_t) -1) == uid && (gid_t) setfsgid((gid_t) -1) == gid &&
                cap_set_proc(capabilities) == 0) ||
               error_set_errno(error, errno, "Cannot change rights");
}

static bool begin_making(const Transfer *transfer, GError **error) {
        return !transfer->rights || change_rights(transfer->uid, transfer->gid, transfer->rights->owners, error);
}

/* Who cannot have his rights back reads less than he may, and fails then. */
static void end_making(const Transfer *transfer) {
        if (transfer->rights)
                (void) change_rights(transfer->rights->uid, transfer->rights->gid, transfer->rights->callers, NULL);
}

/*
 * One entry
 */

static char *make_name(void) {
        return g_strdup_printf(".keyturnctl-%08x%08x", g_random_int(), g_random_int());
}

/* What is mounted in another namespace than ours, such as a mask, would go with the name. No payload can move it. */
static bool is_mount_point(int in, const char *name) {
        _cleanup_close_ int fd = resolve_open(in, name, O_PATH | O_NOFOLLOW, 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV);

        return fd < 0 && errno == EXDEV;
}

/* `temporary` is ours, whatever else is there now. */
static bool put_in_place(const Transfer *transfer, int to, const char *temporary, const char *name, GError **error) {
        bool is_busy = is_mount_point(to, name);

        if (!is_busy && renameat(to, temporary, to, name) == 0)
                return true;
        if (is_busy)
                error_set(
                        error, KT_ERROR_FAILED,
                        "Cannot copy to '%s': something is mounted on it in the container, or it is masked; copy to "
                        "what is mounted there, on the host",
                        name);
        else
                fail(transfer, error);
        (void) unlinkat(to, temporary, 0);
        return false;
}

static bool set_metadata(const struct stat *st, int fd) {
        const struct timespec times[] = { st->st_mtim, st->st_mtim };

        return fchmod(fd, st->st_mode & 0777) == 0 && futimens(fd, times) == 0;
}

static bool make_file(Transfer *transfer, int in, const struct stat *st, int to, const char *name, GError **error) {
        g_autofree char *temporary = make_name();
        _cleanup_close_ int out = openat(to, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        bool ok = out >= 0 && tree_copy_content(in, out, st->st_size, &transfer->limit) && set_metadata(st, out);

        if (ok)
                return put_in_place(transfer, to, temporary, name, error);
        if (out >= 0 && errno == EFBIG)
                (void) take(transfer, G_MAXUINT64, error);
        else
                (void) fail(transfer, error);
        if (out >= 0)
                (void) unlinkat(to, temporary, 0);
        return false;
}

static bool copy_file(Transfer *transfer, int from, const struct stat *st, int to, const char *name, GError **error) {
        _cleanup_close_ int in = fd_open_regular(from);
        bool ok;

        if (in < 0)
                return fail(transfer, error);
        if (!take(transfer, ENTRY_SIZE, error) || !begin_making(transfer, error))
                return false;
        ok = make_file(transfer, in, st, to, name, error);
        end_making(transfer);
        return ok;
}

static bool make_link(const Transfer *transfer, const char *target, int to, const char *name, GError **error) {
        g_autofree char *temporary = make_name();

        return symlinkat(target, to, temporary) == 0 ? put_in_place(transfer, to, temporary, name, error) :
                                                       fail(transfer, error);
}

static bool copy_link(Transfer *transfer, int from, int to, const char *name, GError **error) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(from, "", target, sizeof target - 1);
        bool ok;

        if (n < 0)
                return fail(transfer, error);
        target[n] = '\0';
        if (!take(transfer, ENTRY_SIZE, error) || !begin_making(transfer, error))
                return false;
        ok = make_link(transfer, target, to, name, error);
        end_making(transfer);
        return ok;
}

/* All of them first, so that what is added meanwhile is not looked at. */
static GPtrArray *read_names(Transfer *transfer, int directory, GError **error) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(DIR) entries = directory_open(directory);
        const char *entry = NULL;
        bool ok = true;

        if (!entries) {
                (void) fail(transfer, error);
                return NULL;
        }
        while (ok && (entry = directory_next(entries))) {
                g_ptr_array_add(names, g_strdup(entry));
                ok = (guint64) names->len * ENTRY_SIZE <= transfer->limit || take(transfer, G_MAXUINT64, error);
        }
        if (ok && errno != 0)
                ok = fail(transfer, error);
        return ok ? g_steal_pointer(&names) : NULL;
}

static bool copy(Transfer *transfer, int from, int to, const char *name, guint depth, GError **error);

static bool copy_entry(Transfer *transfer, int from, int to, const char *name, guint depth, GError **error) {
        _cleanup_close_ int fd = resolve_open(from, name, O_PATH | O_NOFOLLOW, 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
        gsize length = transfer->path->len;
        bool ok = true;

        g_string_append_printf(transfer->path, "/%s", name);
        if (fd >= 0)
                ok = copy(transfer, fd, to, name, depth, error);
        else if (errno == EXDEV)
                transfer->left_out++;
        else if (errno != ENOENT) /* it has gone meanwhile */
                ok = fail(transfer, error);
        if (ok)
                g_string_truncate(transfer->path, length);
        return ok;
}

static bool copy_entries(Transfer *transfer, int from, int to, guint depth, GError **error) {
        g_autoptr(GPtrArray) names = NULL;

        if (depth >= DEPTH_MAX)
                return error_set(error, KT_ERROR_FAILED, "There are over %d directories in each other: '%s'",
                                 DEPTH_MAX, transfer->path->str);
        names = read_names(transfer, from, error);
        for (guint i = 0; names && i < names->len; i++)
                if (!copy_entry(transfer, from, to, names->pdata[i], depth + 1, error))
                        return false;
        return names;
}

/* Who exchanges it for another one of his between both calls has that filled. */
static int make_directory(const Transfer *transfer, int to, const char *name, bool *ret_is_new, GError **error) {
        int fd = -1;

        *ret_is_new = mkdirat(to, name, 0700) == 0;
        if (*ret_is_new || errno == EEXIST)
                fd = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                (void) fail(transfer, error);
        return fd;
}

static bool copy_directory(Transfer *transfer, int from, const struct stat *st, int to, const char *name, guint depth,
                           GError **error) {
        _cleanup_close_ int directory = -1;
        bool is_new = false, ok;

        if (!take(transfer, ENTRY_SIZE, error) || !begin_making(transfer, error))
                return false;
        directory = make_directory(transfer, to, name, &is_new, error);
        end_making(transfer);
        if (directory < 0 || !copy_entries(transfer, from, directory, depth, error))
                return false;
        if (!is_new)
                return true;
        if (!begin_making(transfer, error))
                return false;
        ok = set_metadata(st, directory) || fail(transfer, error);
        end_making(transfer);
        return ok;
}

static bool copy(Transfer *transfer, int from, int to, const char *name, guint depth, GError **error) {
        struct stat st;

        if (fstat(from, &st) < 0)
                return fail(transfer, error);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
                transfer->left_out++;
                return true;
        }
        return S_ISDIR(st.st_mode) ? copy_directory(transfer, from, &st, to, name, depth, error) :
               S_ISREG(st.st_mode) ? copy_file(transfer, from, &st, to, name, error) :
                                     copy_link(transfer, from, to, name, error);
}

bool transfer_copy(Transfer *transfer, int from, int to, const char *name, GError **error) {
        return name ? copy(transfer, from, to, name, 0, error) : copy_entries(transfer, from, to, 0, error);
}
