/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/oci/selinux-label.h"
#include "libstart/volume/tree-label.h"
#include "libstart/volume/tree-walk.h"

/* The threat, beside that of tree-walk.c: a file outside of the tree gets the label with which containers may read
 * and write it. So what is labelled is what was opened and looked at, by descriptor, and a file with several names
 * (hard links) is labelled when all of its names have been seen in the tree. */

#define XATTR "security.selinux"
#define LABEL_MAX 4096
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

static bool set_label(int fd, void *data, GError **error) {
        const Walk *walk = data;
        g_autofree char *file = NULL;
        char path[32];
        int errnum;

        name_descriptor(fd, path);
        if (has_label(fd, walk->label) || setxattr(path, XATTR, walk->label, strlen(walk->label), 0) == 0 ||
            errno == ENOTSUP)
                return true;
        errnum = errno;
        file = g_file_read_link(path, NULL); /* where it is not too deep for that */
        return error_set_errno(error, errnum, "cannot label '%s' as '%s'", file ? file : "a file", walk->label);
}

/* Have all names of the file been seen? */
static bool is_complete(Walk *walk, const struct statx *st, const char *name) {
        const LinkedFile key = { .device = makedev(st->stx_dev_major, st->stx_dev_minor), .inode = st->stx_ino };
        LinkedFile *file = g_hash_table_lookup(walk->links, &key);

        if (st->stx_nlink <= 1)
                return true;
        if (!file) {
                file = g_memdup2(&key, sizeof key);
                file->n_missing = st->stx_nlink;
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

/* A directory comes after what is in it: whoever finds it labelled finds all in it labelled. */
static bool relabel(int fd, const struct statx *st, const char *name, void *data, GError **error) {
        Walk *walk = data;

        if (g_str_equal(name, ".")) { /* the top: names will be seen anew */
                g_hash_table_remove_all(walk->links);
                name = walk->path;
        }
        tell(walk);
        return S_ISDIR(st->stx_mode) || !is_complete(walk, st, name) || set_label(fd, walk, error);
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
        const TreeVisitor visitor = { .visit = relabel, .leave = set_label, .data = &walk };
        bool ok;

        if (has_label(fd, label) || !knows_labels(fd))
                return true;
        walk.links = g_hash_table_new_full(hash_file, is_same_file, free_file, NULL);
        log_notice("Relabelling '%s' as '%s'", path, label);
        ok = tree_walk(fd, &visitor, error);
        if (ok)
                warn_of_links(&walk);
        else
                g_prefix_error(error, "Cannot relabel '%s' (z, Z): ", path);
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
