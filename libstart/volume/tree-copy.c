/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/value/id-map.h"
#include "libstart/volume/tree-copy.h"

#define DEPTH_MAX 300    /* each level takes three descriptors and some of the stack */
#define ROUNDS_MAX 10000 /* of those levels: who goes on making them while they are removed is not waited for */

typedef struct Copy {
        int top;           /* of what is written */
        GString *path;     /* below it: the directory being copied, "" or "a/b/" */
        GHashTable *links; /* "DEVICE:INODE" of files with several names -> the path of the first copy */
        unsigned depth;
        const GArray *uids, *gids;             /* id maps; NULL: owners stay */
        const GArray *known_uids, *known_gids; /* the only owners that may stay; NULL: all may */
        const char *name;                      /* in that directory: what is being copied */
        char *stranger;                        /* the path of the file whose owner is not known */
        const char *unmapped;                  /* "user" or "group" of the file that failed; else NULL */
        guint32 id;                            /* which */
} Copy;

bool tree_look(int directory, bool *ret_empty) {
        g_autoptr(DIR) entries = directory_open(directory);

        *ret_empty = entries && !directory_next(entries);
        return entries && (!*ret_empty || errno == 0);
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

static bool map_id(Copy *copy, const GArray *map, const char *what, guint32 *id) {
        copy->id = *id;
        if (!map || id_map_outside(map, copy->id, id))
                return true;
        copy->unmapped = what;
        errno = EOVERFLOW;
        return false;
}

static bool know_id(Copy *copy, const GArray *known, const char *what, guint32 id) {
        guint32 inside;

        if (!known || id_map_inside(known, id, &inside))
                return true;
        g_free(copy->stranger);
        copy->stranger = g_strconcat(copy->path->str, copy->name, NULL);
        copy->unmapped = what;
        copy->id = id;
        errno = EPERM;
        return false;
}

static bool map_owner(Copy *copy, struct stat *st) {
        return know_id(copy, copy->known_uids, "user", st->st_uid) &&
               know_id(copy, copy->known_gids, "group", st->st_gid) &&
               map_id(copy, copy->uids, "user", &st->st_uid) && map_id(copy, copy->gids, "group", &st->st_gid);
}

/* acl(5): users and groups that have an entry of their own. */
static bool map_acl(Copy *copy, char *value, size_t size) {
        for (size_t at = sizeof(struct posix_acl_xattr_header); at + sizeof(struct posix_acl_xattr_entry) <= size;
             at += sizeof(struct posix_acl_xattr_entry)) {
                struct posix_acl_xattr_entry entry;
                guint32 id;

                memcpy(&entry, value + at, sizeof entry);
                id = GUINT32_FROM_LE(entry.e_id);
                if ((GUINT16_FROM_LE(entry.e_tag) == ACL_USER && !map_id(copy, copy->uids, "user", &id)) ||
                    (GUINT16_FROM_LE(entry.e_tag) == ACL_GROUP && !map_id(copy, copy->gids, "group", &id)))
                        return false;
                entry.e_id = GUINT32_TO_LE(id);
                memcpy(value + at, &entry, sizeof entry);
        }
        return true;
}

/* With an ACL, the group's bits of the mode are what all of its entries may have at most: without it, the group would
 * have them. Of a volume's files both are as ever. */
static bool is_acl(const Copy *copy, const char *attribute) {
        return copy->uids && g_str_has_prefix(attribute, "system.posix_acl_");
}

/* A layer's own are nothing that a container may have in another. */
static bool is_kept(const Copy *copy, const char *attribute) {
        return (g_str_has_prefix(attribute, "user.") &&
                !(copy->uids && g_str_has_prefix(attribute, "user.overlay."))) ||
               g_str_equal(attribute, "security.capability");
}

/* Capabilities are those of a user namespace, whose root the attribute names; without a name, the machine's. */
static bool knows_root(const Copy *copy, const char *attribute, const char *value, size_t size) {
        struct vfs_ns_cap_data data;
        guint32 inside;

        if (!copy->known_uids || !g_str_equal(attribute, "security.capability"))
                return true;
        if (size != sizeof data)
                return false;
        memcpy(&data, value, sizeof data);
        return (GUINT32_FROM_LE(data.magic_etc) & VFS_CAP_REVISION_MASK) == VFS_CAP_REVISION_3 &&
               id_map_inside(copy->known_uids, GUINT32_FROM_LE(data.rootid), &inside);
}

/* Where the file system takes none, or not so many, they are not there: the file is what counts. But an ACL has to
 * be, and a capability is taken, or not known there. Those of a root whom this user namespace does not know
 * (EOVERFLOW) are none here. */
static bool may_be_left_out(const char *attribute, int errnum) {
        return errnum == ENOTSUP || errnum == ENODATA ||
               (g_str_has_prefix(attribute, "user.") &&
                (errnum == EPERM || errnum == ENOSPC || errnum == E2BIG || errnum == EDQUOT));
}

static bool copy_attribute(Copy *copy, int in, int out, const char *name) {
        char value[XATTR_SIZE_MAX];
        ssize_t n = fgetxattr(in, name, value, sizeof value);

        if (is_acl(copy, name))
                return n >= 0 && map_acl(copy, value, (size_t) n) && fsetxattr(out, name, value, (size_t) n, 0) == 0;
        if (n < 0)
                return errno == ENODATA || errno == ENOTSUP || errno == EOVERFLOW;
        return !knows_root(copy, name, value, (size_t) n) || fsetxattr(out, name, value, (size_t) n, 0) == 0 ||
               may_be_left_out(name, errno);
}

static bool copy_attributes(Copy *copy, int in, int out) {
        char names[XATTR_LIST_MAX];
        ssize_t length = flistxattr(in, names, sizeof names);

        for (char *name = names; length > 0 && name < names + length; name += strlen(name) + 1)
                if ((is_acl(copy, name) || is_kept(copy, name)) && !copy_attribute(copy, in, out, name))
                        return false;
        return length >= 0 || errno == ENOTSUP || errno == ENODATA;
}

/* The owner first: a new one takes away capabilities and set-user-id. The mode before ACLs, which it would change. */
static bool copy_metadata(Copy *copy, int in, int out, struct stat *st) {
        const struct timespec times[] = { st->st_atim, st->st_mtim };

        return map_owner(copy, st) && fchown(out, st->st_uid, st->st_gid) == 0 &&
               fchmod(out, st->st_mode & 07777) == 0 && copy_attributes(copy, in, out) && futimens(out, times) == 0;
}

static bool copy_file(Copy *copy, int from, int to, const char *name) {
        _cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        _cleanup_close_ int out = -1;
        guint64 limit = G_MAXUINT64; /* an image's files, and a disk */
        struct stat st;

        if (in < 0 || fstat(in, &st) < 0)
                return false;
        if (!S_ISREG(st.st_mode)) /* something else has been put there */
                return true;
        out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return out >= 0 && tree_copy_content(in, out, st.st_size, &limit) && copy_metadata(copy, in, out, &st);
}

/* What is no file that could be opened. */
static bool give(int to, const char *name, const struct stat *st) {
        const struct timespec times[] = { st->st_atim, st->st_mtim };

        return fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) == 0 &&
               utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool copy_link(Copy *copy, int from, int to, const char *name, struct stat *st) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(from, name, target, sizeof target - 1);

        if (n < 0)
                return false;
        target[n] = '\0';
        return map_owner(copy, st) && symlinkat(target, to, name) == 0 && give(to, name, st);
}

static bool make_fifo(Copy *copy, int to, const char *name, struct stat *st) {
        return map_owner(copy, st) && mkfifoat(to, name, st->st_mode & 0777) == 0 && give(to, name, st);
}

/* What has been copied is looked up anew, and whoever has the volume too may have put a link on the way: it leads to
 * no file of the host's, which would get a name in the volume. */
static bool link_copied(const Copy *copy, const char *path, int to, const char *name) {
        _cleanup_close_ int fd = resolve_open(copy->top, path, O_PATH | O_NOFOLLOW, 0,
                                              RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

        char path_of_fd[32];

        /* Before Linux 6.10, AT_EMPTY_PATH is for the machine's root alone. */
        snprintf(path_of_fd, sizeof path_of_fd, "/proc/self/fd/%d", fd);
        return fd >= 0 && linkat(AT_FDCWD, path_of_fd, to, name, AT_SYMLINK_FOLLOW) == 0;
}

/* File systems without links say one of these; EMLINK: no more of this file. */
static bool has_no_link(int errnum) {
        return errnum == EPERM || errnum == EMLINK || errnum == EOPNOTSUPP || errnum == ENOSYS;
}

/* Is it another name of a file that has been copied? Then that is linked, or copied once more where there is no link
 * to be had. */
static bool link_again(Copy *copy, int to, const char *name, const struct stat *st, bool *ret_done) {
        char *key = g_strdup_printf("%ju:%ju", (uintmax_t) st->st_dev, (uintmax_t) st->st_ino);
        const char *first = g_hash_table_lookup(copy->links, key);

        *ret_done = false;
        if (!first) {
                g_hash_table_insert(copy->links, key, g_strconcat(copy->path->str, name, NULL));
                return true;
        }
        g_free(key);
        *ret_done = link_copied(copy, first, to, name);
        return *ret_done || has_no_link(errno);
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
        copy->name = name;
        return copy_metadata(copy, in, out, &st);
}

static bool copy_entry(Copy *copy, int from, int to, const char *name) {
        struct stat st;
        bool done = false;

        copy->name = name;
        if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        if (S_ISDIR(st.st_mode))
                return copy_directory(copy, from, to, name);
        if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISFIFO(st.st_mode))
                return true;
        if (st.st_nlink > 1 && !link_again(copy, to, name, &st, &done))
                return false;
        if (done)
                return true;
        return S_ISREG(st.st_mode) ? copy_file(copy, from, to, name) :
               S_ISLNK(st.st_mode) ? copy_link(copy, from, to, name, &st) :
                                     make_fifo(copy, to, name, &st);
}

static bool copy_entries(Copy *copy, int from, int to) {
        g_autoptr(DIR) entries = directory_open(from);
        const char *name;
        bool ok = entries;

        if (++copy->depth > DEPTH_MAX) {
                errno = ELOOP;
                ok = false;
        }
        while (ok && (name = directory_next(entries)))
                ok = copy_entry(copy, from, to, name);
        ok = ok && errno == 0;
        if (ok)
                copy->depth--;
        return ok;
}

static bool copy_top(Copy *copy, int from, int to) {
        struct stat st;

        return !copy->uids || (fstat(from, &st) == 0 && copy_metadata(copy, from, to, &st));
}

static bool copy_tree(Copy *copy, int from, int to, GError **error) {
        g_autoptr(GString) path = g_string_new(NULL);
        g_autoptr(GHashTable) links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_autofree char *stranger = NULL;
        bool ok;

        copy->top = to;
        copy->path = path;
        copy->links = links;
        ok = copy_entries(copy, from, to) && copy_top(copy, from, to);
        stranger = copy->stranger;
        if (ok)
                return true;
        if (stranger) {
                g_autofree char *shown = g_strescape(stranger, NULL); /* a name in a log */

                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' in the image's directory belongs to the %s %u, which is none of the "
                                 "container's: give it another owner in the image",
                                 shown, copy->unmapped, copy->id);
        }
        if (copy->unmapped)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "A file in '/%s' belongs to the %s %u, which is none of the user namespace's: map it "
                        "(UIDMap=, GIDMap=), or ask for more ids (UserNS=auto:size=)",
                        path->str, copy->unmapped, copy->id);
        if (errno == ELOOP && copy->depth > DEPTH_MAX)
                return error_set(error, KT_ERROR_FAILED,
                                 "There are over %d directories in each other in what is to be "
                                 "copied: leave out copying (nocopy)",
                                 DEPTH_MAX);
        return error_set_errno(error, errno, "Cannot copy the files below '%s'", path->str);
}

bool tree_copy(int from, int to, const GArray *uids, const GArray *gids, GError **error) {
        return copy_tree(&(Copy) { .known_uids = uids, .known_gids = gids }, from, to, error);
}

bool tree_copy_mapped(int from, int to, const GArray *uids, const GArray *gids, GError **error) {
        return copy_tree(&(Copy) { .uids = uids, .gids = gids }, from, to, error);
}

typedef struct Removal {
        int top;
        guint32 random; /* names that nobody can have made before */
        unsigned n_moved;
} Removal;

/* A payload may have put more directories in each other than this can go down. What is too deep goes to the top,
 * where the next round finds it. */
static bool move_to_top(Removal *removal, int directory, const char *name) {
        char moved[40];

        snprintf(moved, sizeof moved, ".deep-%08x-%u", removal->random, removal->n_moved++);
        return renameat2(directory, name, removal->top, moved, RENAME_NOREPLACE) == 0;
}

/* Nothing that is mounted in there is touched. */
static bool remove_entries(Removal *removal, int directory, unsigned depth) {
        g_autoptr(DIR) entries = directory_open(directory);
        const char *name;

        while (entries && (name = directory_next(entries))) {
                _cleanup_close_ int fd = -1;

                if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
                        continue;
                if (errno != EISDIR)
                        return false;
                if (unlinkat(directory, name, AT_REMOVEDIR) == 0)
                        continue;
                if (depth == DEPTH_MAX) {
                        if (!move_to_top(removal, directory, name))
                                return false;
                        continue;
                }
                fd = resolve_open(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
                                  RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
                if (fd < 0 || !remove_entries(removal, fd, depth + 1) || unlinkat(directory, name, AT_REMOVEDIR) < 0)
                        return false;
        }
        return entries && errno == 0;
}

static bool remove_all(int parent, const char *name, int fd) {
        Removal removal = { .top = fd, .random = g_random_int() };
        unsigned before;

        for (unsigned round = 0; round < ROUNDS_MAX; round++) {
                before = removal.n_moved;
                if (!remove_entries(&removal, fd, 0))
                        return false;
                if (removal.n_moved == before)
                        break;
        }
        return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool tree_remove(int parent, const char *name, GError **error) {
        _cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0 && (errno == ENOENT || (errno == ENOTDIR && unlinkat(parent, name, 0) == 0)))
                return true;
        return (fd >= 0 && remove_all(parent, name, fd)) || error_set_errno(error, errno, "Cannot remove '%s'", name);
}
