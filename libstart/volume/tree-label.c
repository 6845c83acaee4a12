/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/oci/selinux-label.h"
#include "libstart/volume/tree-label.h"

/* The threat: the tree is a payload's, of this container's last run or of another that runs now. It may have left a
 * link in it to a file of the host's, or exchange a directory for such a link while we are on our way, so that a file
 * outside gets the label with which containers may read and write it.
 *
 * So no path is followed, only names in directories that are open, without links; what is labelled is what was opened
 * and looked at, by descriptor. A file with several names (hard links) is labelled when all of its names have been
 * seen in the tree. */

#define XATTR "security.selinux"
#define LABEL_MAX 4096
#define DEPTH_MAX 450 /* each level takes two descriptors, of the 1024 that a service has */
#define TELL_EVERY (G_USEC_PER_SEC * 2)

typedef struct Walk {
        const char *label;
        const char *path;  /* of the whole tree, for messages */
        GHashTable *links; /* of LinkedFile: those with names that have not been seen */
        guint64 n_seen;
        gint64 told; /* when systemd heard of it, or the beginning; monotonic */
        bool has_told;
        Notify *systemd;
} Walk;

typedef struct LinkedFile {
        guint64 device, inode;
        guint64 n_missing; /* so many names */
        char *example;
} LinkedFile;

static guint hash_file(gconstpointer key) {
        const LinkedFile *file = key;

        return (guint) (file->inode ^ file->inode >> 32 ^ file->device);
}

static gboolean is_same_file(gconstpointer a, gconstpointer b) {
        const LinkedFile *first = a, *second = b;

        return first->inode == second->inode && first->device == second->device;
}

static void free_file(void *data) {
        LinkedFile *file = data;

        g_free(file->example);
        g_free(file);
}

/* Of what `fd` (O_PATH) is open on, even a link. */
static void name_descriptor(int fd, char path[32]) {
        snprintf(path, 32, "/proc/self/fd/%d", fd);
}

static bool has_label(int fd, const char *label) {
        char path[32], value[LABEL_MAX];
        ssize_t n;

        name_descriptor(fd, path);
        n = getxattr(path, XATTR, value, sizeof value);
        if (n > 0 && value[n - 1] == '\0')
                n--;
        return n >= 0 && (size_t) n == strlen(label) && memcmp(value, label, (size_t) n) == 0;
}

/* A file system without labels, such as FAT, has none to change: the policy decides about it as a whole. Its own
 * label is not given to anything anew. */
static bool knows_labels(int fd) {
        char path[32], value[LABEL_MAX];
        ssize_t n;

        name_descriptor(fd, path);
        n = getxattr(path, XATTR, value, sizeof value);
        return n < 0 ? errno != ENOTSUP : setxattr(path, XATTR, value, (size_t) n, 0) == 0 || errno != ENOTSUP;
}

static bool set_label(const Walk *walk, int fd, const char *name, GError **error) {
        char path[32];

        name_descriptor(fd, path);
        if (has_label(fd, walk->label) || setxattr(path, XATTR, walk->label, strlen(walk->label), 0) == 0 ||
            errno == ENOTSUP)
                return true;
        return error_set_errno(error, errno, "Cannot label '%s' in '%s' as '%s' (z, Z)", name, walk->path,
                               walk->label);
}

/* Have all names of the file been seen? */
static bool is_complete(Walk *walk, const struct stat *st, const char *name) {
        const LinkedFile key = { .device = st->st_dev, .inode = st->st_ino };
        LinkedFile *file = g_hash_table_lookup(walk->links, &key);

        if (st->st_nlink <= 1)
                return true;
        if (!file) {
                file = g_memdup2(&key, sizeof key);
                file->n_missing = st->st_nlink;
                file->example = g_strdup(name);
                g_hash_table_add(walk->links, file);
        }
        if (--file->n_missing > 0)
                return false;
        g_hash_table_remove(walk->links, &key);
        return true;
}

static void tell(Walk *walk) {
        gint64 now;

        if (++walk->n_seen % 256 != 0)
                return;
        now = g_get_monotonic_time();
        if (now - walk->told < TELL_EVERY)
                return;
        walk->told = now;
        walk->has_told = true;

        g_autofree char *state = g_strdup_printf("STATUS=Relabelling '%s' for SELinux: %" G_GUINT64_FORMAT
                                                 " files\nEXTEND_TIMEOUT_USEC=%d",
                                                 walk->path, walk->n_seen, 30 * (int) G_USEC_PER_SEC);
        (void) !notify_send(walk->systemd, state, NULL);
}

static bool relabel_directory(Walk *walk, int fd, const char *name, int depth, GError **error);

static bool relabel_entry(Walk *walk, int directory, const char *name, int depth, GError **error) {
        _cleanup_close_ int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (fd < 0 && errno == ENOENT)
                return true; /* somebody else's business, who has removed it */
        if (fd < 0 || fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot open '%s' in '%s' for relabelling", name, walk->path);
        tell(walk);
        if (S_ISDIR(st.st_mode))
                return relabel_directory(walk, fd, name, depth + 1, error);
        return !is_complete(walk, &st, name) || set_label(walk, fd, name, error);
}

/* Itself comes last: whoever finds it labelled finds all in it labelled. */
static bool relabel_directory(Walk *walk, int fd, const char *name, int depth, GError **error) {
        g_autoptr(DIR) entries = depth < DEPTH_MAX ? directory_open(fd) : NULL;
        const char *entry = NULL;
        bool ok = true;

        if (depth >= DEPTH_MAX)
                return error_set(error, KT_ERROR_FAILED,
                                 "'%s' is more than %d directories deep: label it yourself, with chcon(1)",
                                 walk->path, DEPTH_MAX);
        if (!entries)
                return error_set_errno(error, errno, "Cannot read '%s' in '%s' for relabelling", name, walk->path);
        while (ok && (entry = directory_next(entries)))
                ok = relabel_entry(walk, dirfd(entries), entry, depth, error);
        if (ok && errno != 0)
                ok = error_set_errno(error, errno, "Cannot read '%s' in '%s' for relabelling", name, walk->path);
        return ok && set_label(walk, fd, name, error);
}

static void warn_of_links(const Walk *walk) {
        guint n = g_hash_table_size(walk->links);
        GHashTableIter iter;
        void *key;

        g_hash_table_iter_init(&iter, walk->links);
        if (g_hash_table_iter_next(&iter, &key, NULL))
                log_warning(
                        "%u files in '%s' have names outside of it, too (hard links), and keep their label: '%s'%s",
                        n, walk->path, ((const LinkedFile *) key)->example, n > 1 ? ", ..." : "");
}

bool tree_change_label(int fd, const char *path, const char *label, Notify *systemd, GError **error) {
        Walk walk = { .label = label, .path = path, .told = g_get_monotonic_time(), .systemd = systemd };
        struct stat st;
        bool ok;

        if (has_label(fd, label) || !knows_labels(fd))
                return true;
        if (fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot relabel '%s'", path);
        walk.links = g_hash_table_new_full(hash_file, is_same_file, free_file, NULL);
        log_notice("Relabelling '%s' as '%s'", path, label);
        ok = S_ISDIR(st.st_mode) ? relabel_directory(&walk, fd, ".", 0, error) :
                                   !is_complete(&walk, &st, path) || set_label(&walk, fd, path, error);
        if (ok)
                warn_of_links(&walk);
        if (walk.has_told)
                (void) !notify_send(systemd, "STATUS=", NULL);
        g_hash_table_unref(walk.links);
        return ok;
}

/* As it was named and where it is: neither is a way to the system's files. */
bool tree_check_label_change(int fd, const char *named, GError **error) {
        const char *home = getenv("HOME");
        char path[32], place[PATH_MAX];
        ssize_t n;

        name_descriptor(fd, path);
        n = readlink(path, place, sizeof place - 1);
        if (n < 0)
                return error_set_errno(error, errno, "Cannot find '%s'", named);
        place[n] = '\0';
        if (!selinux_path_is_systems(named) && !selinux_path_is_systems(place) && g_strcmp0(home, place) != 0)
                return true;
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is a directory or file of the system's, and is not relabelled for a container (z, Z): "
                         "use a directory of the container's own, or SecurityLabelDisable=true without z and Z",
                         named);
}
