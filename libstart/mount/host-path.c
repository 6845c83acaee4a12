/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/lease.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"
#include "libstart/mount/host-path.h"
#include "libstart/userns/owner.h"

#define LINKS_MAX 40 /* as in the kernel */
#define BUFFER_SIZE (64U * 1024U)

/* A directory on the way, or one with write access for payloads. */
typedef struct Directory {
        dev_t device;
        ino_t inode;
        uid_t owner;
        mode_t mode;
        gsize length; /* of the way up to it */
} Directory;

/* How far a path has been followed. */
typedef struct Walk {
        int base;                /* where the way begins: the root, or what a link of procfs has led to */
        GString *way;            /* without other links; "" is the root */
        gsize skip;              /* as much of the way leads to the base */
        bool is_foreign;         /* nobody can say who writes to what is above the base */
        GString *rest;           /* what is still to be looked up */
        GArray *parents;         /* of Directory: all on the way */
        const GArray *untrusted; /* of Directory */
        bool is_owned;           /* another's rights count, and the kernel's links are this process's */
        const char *must_stay;   /* the path, where none of its names may be one that payloads can change; or NULL */
        int n_links;
} Walk;

static void walk_clear(Walk *walk) {
        fd_close(&walk->base);
        g_string_free(walk->way, TRUE);
        g_string_free(walk->rest, TRUE);
        g_array_unref(walk->parents);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Walk, walk_clear)

static Directory make_directory(const struct stat *st, gsize length) {
        return (Directory) { st->st_dev, st->st_ino, st->st_uid, st->st_mode, length };
}

static const Directory *last(const GArray *directories) {
        return directories->len > 0 ? &g_array_index(directories, Directory, directories->len - 1) : NULL;
}

static bool is_untrusted(const Walk *walk, const Directory *directory) {
        for (guint i = 0; i < walk->untrusted->len; i++) {
                const Directory *untrusted = &g_array_index(walk->untrusted, Directory, i);

                if (untrusted->device == directory->device && untrusted->inode == directory->inode)
                        return true;
        }
        return false;
}

/* The outermost directory on the way that payloads write to, or NULL. */
static const Directory *find_untrusted(const Walk *walk) {
        for (guint i = 0; i < walk->parents->len; i++)
                if (is_untrusted(walk, &g_array_index(walk->parents, Directory, i)))
                        return &g_array_index(walk->parents, Directory, i);
        return NULL;
}

/* As the kernel's protected_symlinks: in /tmp and the like only root's links are followed, and the directory's
 * owner's. */
static bool is_somebodys(const Walk *walk, const struct stat *link) {
        const Directory *parent = last(walk->parents);

        return parent && (parent->mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) && link->st_uid != 0 &&
               link->st_uid != parent->owner;
}

static bool check_link(Walk *walk, const char *name, const struct stat *st, GError **error) {
        const Directory *untrusted = find_untrusted(walk);

        if (walk->is_foreign)
                return error_set(error, KT_ERROR_FAILED,
                                 "'%s/%s' is a link, which is not followed behind one of /proc to another root: name "
                                 "the path that it leads to",
                                 walk->way->str, name);
        if (untrusted)
                return error_set(error, KT_ERROR_FAILED,
                                 "'%s/%s' is a link, which is not followed, as a container can write to '%.*s': name "
                                 "the path that it leads to",
                                 walk->way->str, name, (int) untrusted->length, walk->way->str);
        if (is_somebodys(walk, st))
                return error_set_errno(error, EACCES, "Cannot follow the link '%s/%s'", walk->way->str, name);
        if (++walk->n_links > LINKS_MAX)
                return error_set_errno(error, ELOOP, "Cannot follow the link '%s/%s'", walk->way->str, name);
        return true;
}

/* Takes ownership of base. False, with errno, where there is none. */
static bool go_to(Walk *walk, int base) {
        fd_close(&walk->base);
        walk->base = base;
        walk->skip = walk->way->len;
        g_array_set_size(walk->parents, 0);
        return base >= 0;
}

static bool go_to_root(Walk *walk) {
        g_string_truncate(walk->way, 0);
        walk->is_foreign = false;
        return go_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static bool go_up(Walk *walk) {
        if (walk->parents->len == 0) {
                if (walk->way->len > 0)
                        g_string_append(walk->way, "/..");
                return go_to(walk, openat(walk->base, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        }
        g_array_set_size(walk->parents, walk->parents->len - 1);
        g_string_truncate(walk->way, walk->parents->len > 0 ? last(walk->parents)->length : walk->skip);
        return true;
}

static void go_down(Walk *walk, const char *name, const struct stat *st) {
        g_string_append_printf(walk->way, "/%s", name);
        const Directory directory = make_directory(st, walk->way->len);
        g_array_append_val(walk->parents, directory);
}

static bool follow(Walk *walk, int link, const char *name, const struct stat *st, GError **error) {
        char target[PATH_MAX];
        ssize_t n;

        if (!check_link(walk, name, st, error))
                return false;
        n = readlinkat(link, "", target, sizeof target - 1);
        if (n < 0)
                return error_set_errno(error, errno, "Cannot follow the link '%s/%s'", walk->way->str, name);
        target[n] = '\0';
        if (target[0] == '/' && !go_to_root(walk))
                return error_set_errno(error, errno, "Cannot open '/'");
        g_string_prepend(walk->rest, target); /* it ends here, or goes on with a '/' */
        return true;
}

/* A link of procfs leads elsewhere than its text says. Only the kernel makes links there. */
static bool is_in_proc(int fd) {
        struct statfs st;

        return fstatfs(fd, &st) == 0 && st.f_type == PROC_SUPER_MAGIC;
}

/* The first name of the rest, which is taken off; NULL at the end. Transfer full. */
static char *take_name(Walk *walk) {
        size_t blank = strspn(walk->rest->str, "/"), length = strcspn(walk->rest->str + blank, "/");
        char *name = length > 0 ? g_strndup(walk->rest->str + blank, length) : NULL;

        g_string_erase(walk->rest, 0, (gssize) (blank + length));
        return name;
}

/* What is at the end of the way, to which a name may be added ("/NAME"), or "". Nothing on it is a link. */
static int open_way(const Walk *walk, const char *name, int flags) {
        g_autofree char *path = g_strconcat(".", walk->way->str + walk->skip, name, NULL);

        return resolve_open(walk->base, path, flags, 0, RESOLVE_NO_SYMLINKS);
}

/* The machine's root, and the directories of processes, are as trusted as without the link. All else is another's:
 * the working directory of a process, or its root, may be a payload's, and nothing tells what is above it. */
static bool is_own(int fd) {
        struct stat st, root;

        return is_in_proc(fd) ||
               (fstat(fd, &st) == 0 && stat("/", &root) == 0 && st.st_dev == root.st_dev && st.st_ino == root.st_ino);
}

/* Only the kernel knows where it leads. From there on each step is taken as before. */
static bool jump(Walk *walk, const char *name, const struct stat *st, GError **error) {
        _cleanup_close_ int directory = -1;
        int target;

        if (!check_link(walk, name, st, error))
                return false;
        if (walk->is_owned)
                return error_set_errno(error, EACCES, "Cannot follow the link '%s/%s'", walk->way->str, name);
        directory = open_way(walk, "", O_PATH | O_DIRECTORY);
        target = directory < 0 ? -1 : openat(directory, name, O_PATH | O_CLOEXEC);
        g_string_append_printf(walk->way, "/%s", name);
        if (!go_to(walk, target))
                return error_set_errno(error, errno, "Cannot follow the link '%s'", walk->way->str);
        walk->is_foreign = !is_own(target);
        return true;
}

static bool check_stays(const Walk *walk, GError **error) {
        const Directory *untrusted = find_untrusted(walk);

        if (walk->is_foreign)
                return error_set(error, KT_ERROR_FAILED, "'%s': '%s' leads to another root: name the path there",
                                 walk->must_stay, walk->way->str);
        return !untrusted ||
               error_set(error, KT_ERROR_FAILED,
                         "'%s' is mounted by its name, and a container can write to '%.*s', and put something else "
                         "there: name a path outside of the containers' volumes",
                         walk->must_stay, (int) untrusted->length, walk->way->str);
}

static bool take_step(Walk *walk, const char *name, GError **error) {
        g_autofree char *last_part = g_strconcat("/", name, NULL);
        _cleanup_close_ int fd = -1;
        struct stat st;

        if (g_str_equal(name, "."))
                return true;
        if (g_str_equal(name, ".."))
                return go_up(walk) || error_set_errno(error, errno, "Cannot open '%s'", walk->way->str);
        if (walk->must_stay && !check_stays(walk, error))
                return false;
        fd = open_way(walk, last_part, O_PATH | O_NOFOLLOW);
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot open '%s%s'", walk->way->str, last_part);
        if (!S_ISLNK(st.st_mode))
                go_down(walk, name, &st);
        else if (find_untrusted(walk) || !is_in_proc(fd)) /* who mounts may have put a procfs there */
                return follow(walk, fd, name, &st, error);
        else
                return jump(walk, name, &st, error);
        return true;
}

/* What a link of procfs has led to need not be a directory: it is opened as what it is. */
static int open_end(const Walk *walk, int flags) {
        g_autofree char *itself = g_strdup_printf("/proc/self/fd/%d", walk->base);

        return walk->way->len > walk->skip ? open_way(walk, "", flags) : resolve_open(AT_FDCWD, itself, flags, 0, 0);
}

/* The path is followed step by step. The kernel opens each step, and the result, by a path that must have no links:
 * one that somebody puts there meanwhile is not followed either. */
static int walk_open(const char *path, int flags, const GArray *untrusted, bool is_owned, bool must_stay,
                     GError **error) {
        g_auto(Walk) walk = {
                .base = -1,
                .way = g_string_new(NULL),
                .rest = g_string_new(path),
                .parents = g_array_new(FALSE, FALSE, sizeof(Directory)),
                .untrusted = untrusted,
                .is_owned = is_owned,
                .must_stay = must_stay ? path : NULL,
        };
        g_autofree char *name = NULL;
        int fd = -1;

        if (!go_to_root(&walk))
                return error_negative_errno(error, errno, "Cannot open '/'");
        while ((name = take_name(&walk))) {
                if (!take_step(&walk, name, error))
                        return -1;
                g_clear_pointer(&name, g_free);
        }
        fd = open_end(&walk, flags);
        return fd >= 0 ? fd : error_negative_errno(error, errno, "Cannot open '%s'", path);
}

/* One that is not there, or cannot be reached without such a link, does not count: nothing lies in it. */
static void add_untrusted(GArray *untrusted, const char *path) {
        _cleanup_close_ int fd = walk_open(path, O_PATH, untrusted, false, false, NULL);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        const Directory directory = make_directory(&st, 0);
        g_array_append_val(untrusted, directory);
}

static GArray *read_untrusted(const char *list, GError **error) {
        g_autoptr(GArray) untrusted = g_array_new(FALSE, FALSE, sizeof(Directory));
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!generated_file_read(list, &text, NULL, error))
                return NULL;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++) {
                g_autofree char *path = g_strcompress(*line);

                if (path[0] == '/')
                        add_untrusted(untrusted, path);
        }
        return g_steal_pointer(&untrusted);
}

/* The rights are another's for no longer than this: the list is root's. */
static int open_directly(const char *path, int flags, const HostAccess *access) {
        uint64_t resolve = access->untrusted_list ? RESOLVE_NO_SYMLINKS : access->owner ? RESOLVE_NO_MAGICLINKS : 0;
        int fd;

        owner_take_rights(access->owner);
        fd = resolve_open(AT_FDCWD, path, flags, 0, resolve);
        owner_leave_rights(access->owner);
        return fd;
}

static int open_by_steps(const char *path, int flags, const HostAccess *access, GError **error) {
        g_autoptr(GArray) untrusted = read_untrusted(access->untrusted_list, error);
        int fd;

        if (!untrusted)
                return -1;
        owner_take_rights(access->owner);
        fd = walk_open(path, flags, untrusted, access->owner, false, error);
        owner_leave_rights(access->owner);
        return fd;
}

int host_path_open(const char *path, int flags, const HostAccess *access, GError **error) {
        int fd = open_directly(path, flags, access);

        if (fd >= 0)
                return fd;
        if (errno == ELOOP && access->untrusted_list)
                return open_by_steps(path, flags, access, error);
        return error_negative_errno(error, errno, "Cannot open '%s'", path);
}

bool host_path_check_name(const char *path, const char *untrusted_list, GError **error) {
        g_autoptr(GArray) untrusted = read_untrusted(untrusted_list, error);
        _cleanup_close_ int fd = untrusted ? walk_open(path, O_PATH, untrusted, false, true, error) : -1;

        return fd >= 0;
}

/* What somebody else may have put there; a payload's environment has no room for as much (execve(2)). */
#define CONTENT_MAX (8U << 20)

static bool read_whole(int fd, GString *content) {
        g_autofree char *buffer = g_malloc(BUFFER_SIZE);
        ssize_t n;

        do {
                n = read(fd, buffer, BUFFER_SIZE);
                if (n < 0 && errno != EINTR)
                        return false;
                g_string_append_len(content, buffer, MAX(n, 0));
        } while (n != 0 && content->len <= CONTENT_MAX);
        return true;
}

/* The file is looked at before it is opened: to open a device may do something, to open a FIFO waits, and what they
 * say may never end. */
static int open_file(const char *path, const HostAccess *access, GError **error) {
        _cleanup_close_ int found = host_path_open(path, O_PATH, access, error);
        g_autofree char *itself = g_strdup_printf("/proc/self/fd/%d", found);
        struct stat st;
        int fd;

        if (found < 0)
                return -1;
        if (fstat(found, &st) < 0 || !(S_ISREG(st.st_mode) || stat_is_null(&st)))
                return error_negative(error, KT_ERROR_FAILED, "'%s' is not a regular file", path);
        owner_take_rights(access->owner);
        fd = lease_open(itself);
        owner_leave_rights(access->owner);
        if (fd < 0)
                lease_set_error(error, errno, path);
        return fd;
}

bool host_path_read(const char *path, const HostAccess *access, char **ret_content, gsize *ret_length,
                    GError **error) {
        bool is_looked_at = access->untrusted_list || access->owner;
        _cleanup_close_ int fd = is_looked_at ? open_file(path, access, error) :
                                                host_path_open(path, O_RDONLY | O_NOCTTY, access, error);
        g_autoptr(GString) content = g_string_new(NULL);

        if (fd < 0)
                return false;
        if (!read_whole(fd, content))
                return error_set_errno(error, errno, "Cannot read '%s'", path);
        if (content->len > CONTENT_MAX)
                return error_set(error, KT_ERROR_FAILED, "'%s' is over 8 MiB", path);
        *ret_length = content->len;
        *ret_content = g_string_free(g_steal_pointer(&content), FALSE);
        return true;
}
