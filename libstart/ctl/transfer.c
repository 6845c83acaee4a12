/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/ctl/transfer.h"
#include "libstart/run/tree-copy.h"

/* The threat: one of both trees is a payload's, who exchanges directories for links, and files for devices, while we are at
 * it, and who wants root on the host to have a program that is his, with set-user-id.
 *
 *  - Each entry is pinned by a descriptor first, and looked at, read and entered by that: no look-up comes after a look.
 *    Nothing but regular files and directories is opened. Links are copied, and never followed.
 *  - No file is opened for writing that was there before. Each copy is a new file, which then takes the place of what had
 *    its name: so no link, FIFO or device is written through, and nothing in /proc or /sys.
 *  - A copy has the owner that the caller says, the nine bits of its mode, and its time: no set-user-id, no capabilities,
 *    no other attributes.
 *  - What is mounted in a tree is left out: /proc has no end. So are FIFOs, on which others wait.
 *  - A tree that grows while it is copied, or has more than the host's disk, ends at the limit. */

#define DEPTH_MAX 200 /* each level takes four descriptors */

/* What an entry takes beside its content. */
#define ENTRY_SIZE 512U

static bool fail(const Transfer *transfer, GError **error) {
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

static char *make_name(void) {
        return g_strdup_printf(".keyturnctl-%08x%08x", g_random_int(), g_random_int());
}

/* `temporary` is ours, whatever else is there now. */
static bool put_in_place(const Transfer *transfer, int to, const char *temporary, const char *name, GError **error) {
        if (renameat(to, temporary, to, name) == 0)
                return true;
        fail(transfer, error);
        (void) unlinkat(to, temporary, 0);
        return false;
}

static bool set_metadata(const Transfer *transfer, int fd, const struct stat *st) {
        const struct timespec times[] = { st->st_mtim, st->st_mtim };

        return fchown(fd, transfer->uid, transfer->gid) == 0 && fchmod(fd, st->st_mode & 0777) == 0 &&
               futimens(fd, times) == 0;
}

static bool copy_file(Transfer *transfer, int from, const struct stat *st, int to, const char *name, GError **error) {
        g_autofree char *temporary = make_name();
        _cleanup_close_ int in = -1, out = -1;

        if (!take(transfer, ENTRY_SIZE + MIN((guint64) st->st_blocks * 512, (guint64) st->st_size), error))
                return false;
        in = fd_open_regular(from);
        out = in < 0 ? -1 : openat(to, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (out < 0)
                return fail(transfer, error);
        if (!tree_copy_content(in, out, st->st_size) || !set_metadata(transfer, out, st)) {
                fail(transfer, error);
                (void) unlinkat(to, temporary, 0);
                return false;
        }
        return put_in_place(transfer, to, temporary, name, error);
}

static bool copy_link(Transfer *transfer, int from, int to, const char *name, GError **error) {
        g_autofree char *temporary = make_name();
        char target[PATH_MAX];
        ssize_t n = readlinkat(from, "", target, sizeof target - 1);

        if (!take(transfer, ENTRY_SIZE, error))
                return false;
        if (n < 0)
                return fail(transfer, error);
        target[n] = '\0';
        if (symlinkat(target, to, temporary) < 0)
                return fail(transfer, error);
        (void) fchownat(to, temporary, transfer->uid, transfer->gid, AT_SYMLINK_NOFOLLOW);
        return put_in_place(transfer, to, temporary, name, error);
}

/* All of them first, so that what is added meanwhile is not looked at. */
static GPtrArray *read_names(Transfer *transfer, int directory, GError **error) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
        const struct dirent *entry;
        bool ok = true;

        if (!entries) {
                (void) fail(transfer, error);
                fd_closep(&fd);
                return NULL;
        }
        while (ok && (entry = readdir(entries)))
                if (!g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, "..")) {
                        g_ptr_array_add(names, g_strdup(entry->d_name));
                        ok = (guint64) names->len * ENTRY_SIZE <= transfer->limit ||
                             take(transfer, G_MAXUINT64, error);
                }
        closedir(entries);
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

static bool copy_directory(Transfer *transfer, int from, const struct stat *st, int to, const char *name, guint depth,
                           GError **error) {
        bool is_new = mkdirat(to, name, 0700) == 0;
        _cleanup_close_ int directory = -1;

        if (!take(transfer, ENTRY_SIZE, error))
                return false;
        if (is_new || errno == EEXIST)
                directory = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (directory < 0)
                return fail(transfer, error);
        if (!copy_entries(transfer, from, directory, depth, error))
                return false;
        return !is_new || set_metadata(transfer, directory, st) || fail(transfer, error);
}

static bool copy(Transfer *transfer, int from, int to, const char *name, guint depth, GError **error) {
        struct stat st;

        if (fstat(from, &st) < 0)
                return fail(transfer, error);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
                transfer->left_out++;
                return true;
        }
        transfer->files++;
        return S_ISDIR(st.st_mode) ? copy_directory(transfer, from, &st, to, name, depth, error) :
               S_ISREG(st.st_mode) ? copy_file(transfer, from, &st, to, name, error) :
                                     copy_link(transfer, from, to, name, error);
}

bool transfer_copy(Transfer *transfer, int from, int to, const char *name, GError **error) {
        return name ? copy(transfer, from, to, name, 0, error) : copy_entries(transfer, from, to, 0, error);
}
