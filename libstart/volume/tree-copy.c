/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/volume/tree-copy.h"

#define DEPTH_MAX 300 /* each level takes three descriptors and some of the stack */

typedef struct Copy {
        int top;           /* of what is written */
        GString *path;     /* below it: the directory being copied, "" or "a/b/" */
        GHashTable *links; /* "DEVICE:INODE" of files with several names -> the path of the first copy */
        unsigned depth;
} Copy;

static DIR *open_entries(int directory) {
        int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;

        if (!entries)
                fd_closep(&fd);
        return entries;
}

/* The next entry, or NULL. */
static const char *next_name(DIR *entries) {
        const struct dirent *entry;

        do
                entry = readdir(entries);
        while (entry && (g_str_equal(entry->d_name, ".") || g_str_equal(entry->d_name, "..")));
        return entry ? entry->d_name : NULL;
}

static void close_entries(DIR **entries) {
        if (*entries)
                closedir(*entries);
}
#define _cleanup_closedir_ __attribute__((cleanup(close_entries)))

bool tree_is_empty(int directory) {
        _cleanup_closedir_ DIR *entries = open_entries(directory);

        return entries && !next_name(entries);
}

/* From the same place of one to that of the other. Not every pair of file systems can do it without reading. */
static bool copy_range(int in, int out, off_t start, off_t end, guint64 *limit) {
        if (lseek(out, start, SEEK_SET) < 0)
                return false;
        while (start < end) {
                off_t at = start;
                gsize max = (gsize) MIN((guint64) (end - start), *limit);
                ssize_t n = max > 0 ? copy_file_range(in, &at, out, NULL, max, 0) : (errno = EFBIG, -1);

                if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS))
                        n = sendfile(out, in, &at, MIN(max, 1U << 30));
                if (n <= 0)
                        return n == 0; /* it has been cut meanwhile */
                start += n;
                *limit -= (guint64) n;
        }
        return true;
}

bool tree_copy_content(int in, int out, off_t size, guint64 *limit) {
        off_t start, end = 0;

        while ((start = lseek(in, end, SEEK_DATA)) >= 0 && start < size) {
                end = lseek(in, start, SEEK_HOLE);
                if (end < 0 || !copy_range(in, out, start, MIN(end, size), limit))
                        return false;
        }
        return (start >= 0 || errno == ENXIO) && ftruncate(out, size) == 0;
}

static bool is_kept(const char *attribute) {
        return g_str_has_prefix(attribute, "user.") || g_str_equal(attribute, "security.capability");
}

/* Where the file system takes none, they are not there: the file is what counts. */
static void copy_attributes(int in, int out) {
        char names[4096], value[4096];
        ssize_t length = flistxattr(in, names, sizeof names);

        for (char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
                ssize_t n = is_kept(name) ? fgetxattr(in, name, value, sizeof value) : -1;

                if (n >= 0)
                        (void) !fsetxattr(out, name, value, (size_t) n, 0);
        }
}

/* The owner first: a new one takes away capabilities and set-user-id. */
static bool copy_metadata(int in, int out, const struct stat *st) {
        const struct timespec times[] = { st->st_atim, st->st_mtim };

        if (fchown(out, st->st_uid, st->st_gid) < 0)
                return false;
        copy_attributes(in, out);
        return fchmod(out, st->st_mode & 07777) == 0 && futimens(out, times) == 0;
}

static bool copy_file(int from, int to, const char *name) {
        _cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        _cleanup_close_ int out = -1;
        guint64 limit = G_MAXUINT64; /* an image's files, and a disk */
        struct stat st;

        if (in < 0 || fstat(in, &st) < 0)
                return false;
        if (!S_ISREG(st.st_mode)) /* something else has been put there */
                return true;
        out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return out >= 0 && tree_copy_content(in, out, st.st_size, &limit) && copy_metadata(in, out, &st);
}

static bool copy_link(int from, int to, const char *name, const struct stat *st) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(from, name, target, sizeof target - 1);

        if (n < 0)
                return false;
        target[n] = '\0';
        return symlinkat(target, to, name) == 0 &&
               fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool make_fifo(int to, const char *name, const struct stat *st) {
        return mkfifoat(to, name, st->st_mode & 0777) == 0 &&
               fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What has been copied is looked up anew, and whoever has the volume too may have put a link on the way: it leads to
 * no file of the host's, which would get a name in the volume. */
static bool link_copied(const Copy *copy, const char *path, int to, const char *name) {
        _cleanup_close_ int fd = resolve_open(copy->top, path, O_PATH | O_NOFOLLOW, 0,
                                              RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

        return fd >= 0 && linkat(fd, "", to, name, AT_EMPTY_PATH) == 0;
}

/* Is it another name of a file that has been copied? Then that is linked. */
static bool link_again(Copy *copy, int to, const char *name, const struct stat *st, bool *ret_done) {
        char *key = g_strdup_printf("%ju:%ju", (uintmax_t) st->st_dev, (uintmax_t) st->st_ino);
        const char *first = g_hash_table_lookup(copy->links, key);

        *ret_done = first;
        if (!first) {
                g_hash_table_insert(copy->links, key, g_strconcat(copy->path->str, name, NULL));
                return true;
        }
        g_free(key);
        return link_copied(copy, first, to, name);
}

static bool copy_entries(Copy *copy, int from, int to);

static bool copy_directory(Copy *copy, int from, int to, const char *name) {
        _cleanup_close_ int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_close_ int out = -1;
        gsize length = copy->path->len;
        struct stat st;

        if (in < 0 || fstat(in, &st) < 0 || mkdirat(to, name, 0700) < 0)
                return false;
        out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (out < 0)
                return false;
        g_string_append_printf(copy->path, "%s/", name);
        if (!copy_entries(copy, in, out))
                return false;
        g_string_truncate(copy->path, length);
        return copy_metadata(in, out, &st);
}

static bool copy_entry(Copy *copy, int from, int to, const char *name) {
        struct stat st;
        bool done = false;

        if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        if (S_ISDIR(st.st_mode))
                return copy_directory(copy, from, to, name);
        if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISFIFO(st.st_mode))
                return true;
        if (st.st_nlink > 1 && (!link_again(copy, to, name, &st, &done) || done))
                return done;
        return S_ISREG(st.st_mode) ? copy_file(from, to, name) :
               S_ISLNK(st.st_mode) ? copy_link(from, to, name, &st) :
                                     make_fifo(to, name, &st);
}

static bool copy_entries(Copy *copy, int from, int to) {
        _cleanup_closedir_ DIR *entries = open_entries(from);
        const char *name;
        bool ok = entries;

        if (++copy->depth > DEPTH_MAX) {
                errno = ELOOP;
                ok = false;
        }
        while (ok && (name = next_name(entries)))
                ok = copy_entry(copy, from, to, name);
        if (ok)
                copy->depth--;
        return ok;
}

bool tree_copy(int from, int to, GError **error) {
        g_autoptr(GString) path = g_string_new(NULL);
        g_autoptr(GHashTable) links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        Copy copy = { .top = to, .path = path, .links = links };

        if (copy_entries(&copy, from, to))
                return true;
        if (errno == ELOOP && copy.depth > DEPTH_MAX)
                return error_set(error, KT_ERROR_FAILED,
                                 "There are over %d directories in each other in what is to be "
                                 "copied: leave out copying (nocopy)",
                                 DEPTH_MAX);
        return error_set_errno(error, errno, "Cannot copy the files below '%s'", path->str);
}

static bool remove_entries(int directory, unsigned depth) {
        _cleanup_closedir_ DIR *entries = depth < DEPTH_MAX ? open_entries(directory) : NULL;
        const char *name;

        while (entries && (name = next_name(entries))) {
                _cleanup_close_ int fd = -1;

                if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
                        continue;
                if (errno != EISDIR)
                        return false;
                fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0 || !remove_entries(fd, depth + 1) || unlinkat(directory, name, AT_REMOVEDIR) < 0)
                        return false;
        }
        return entries;
}

bool tree_remove(int parent, const char *name, GError **error) {
        _cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 && (errno == ENOENT || (errno == ENOTDIR && unlinkat(parent, name, 0) == 0)))
                return true;
        return (fd >= 0 && remove_entries(fd, 0) && unlinkat(parent, name, AT_REMOVEDIR) == 0) ||
               error_set_errno(error, errno, "Cannot remove '%s'", name);
}
