/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/volume/tree-walk.h"

/* The threat: the tree is a payload's, of this container's last run or of another that runs now. It may have put as
 * many directories in each other as a disk holds, left a link to a file of the host's, and move or exchange what is
 * in the tree while we are on our way.
 *
 * So no path is followed, only names in directories that are open, without links. Only the innermost of these stay
 * open. One that was closed is opened again as ".." of the one below, which may have been moved: so it has to be the
 * very directory that was left, with the entry that was entered at its place. Else the walk begins anew. */

#define OPEN_MAX 32U /* ordinary trees are less deep: in them no directory is opened twice */
#define ROUNDS_MAX 10

/* The mount and not the device alone tells whether something else is mounted there: on an overlay, files and
 * directories have different devices. A number may be another file's, once a file is removed; its birth is not. */
typedef struct Place {
        guint64 mount, device, inode, born_nsec;
} Place;

typedef struct Level {
        Place place;
        off_t at, next; /* in the directory: the entry that was read, and the one behind it */
        guint entered;  /* hash of the name of that entry */
} Level;

typedef struct Walk {
        const TreeVisitor *visitor;
        guint64 mount; /* the top's */
        GArray *levels;
        DIR *open[OPEN_MAX]; /* of the innermost levels, each at its number modulo OPEN_MAX; others are NULL */
        bool is_lost;
} Walk;

static bool look(int fd, struct statx *ret) {
        return statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
                     ret) == 0;
}

static Place place_of(const struct statx *st) {
        return (Place) {
                .mount = st->stx_mnt_id,
                .device = makedev(st->stx_dev_major, st->stx_dev_minor),
                .inode = st->stx_ino,
                .born_nsec = (guint64) st->stx_btime.tv_sec * G_GUINT64_CONSTANT(1000000000) + st->stx_btime.tv_nsec,
        };
}

static Level *level_of(const Walk *walk) {
        return &g_array_index(walk->levels, Level, walk->levels->len - 1);
}

static DIR **entries_of(Walk *walk) {
        return &walk->open[(walk->levels->len - 1) % OPEN_MAX];
}

static void close_entries(DIR **entries) {
        if (*entries)
                closedir(*entries);
        *entries = NULL;
}

static bool enter(Walk *walk, int fd, const struct statx *st) {
        const Level level = { .place = place_of(st) };
        DIR *entries = directory_open(fd);

        if (!entries)
                return false;
        g_array_append_val(walk->levels, level);
        close_entries(entries_of(walk)); /* of a level far above */
        *entries_of(walk) = entries;
        return true;
}

static bool is_where_it_was(const Level *level, int fd) {
        struct statx st;
        Place place;

        if (!look(fd, &st))
                return false;
        place = place_of(&st);
        return memcmp(&place, &level->place, sizeof place) == 0;
}

/* The directory above `below`, to go on behind the entry that was entered. ENOENT: it was moved out of the mount. */
static bool reopen(Walk *walk, int below, GError **error) {
        _cleanup_close_ int above = openat(below, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        const Level *level = level_of(walk);
        const struct dirent *entry = NULL;
        DIR *entries = NULL;

        if (above < 0 && errno != ENOENT)
                return error_set_errno(error, errno, "cannot go back to a directory");
        if (above >= 0 && is_where_it_was(level, above)) {
                *entries_of(walk) = entries = directory_open(above);
                if (!entries || lseek(dirfd(entries), level->at, SEEK_SET) < 0)
                        return error_set_errno(error, errno, "cannot open a directory once more");
                entry = directory_next_entry(entries);
        }
        walk->is_lost = !entry || g_str_hash(entry->d_name) != level->entered;
        return !walk->is_lost ||
               error_set(error, KT_ERROR_FAILED, "directories in it are moved all the time: stop what moves them");
}

/* All in it has been seen. */
static bool leave(Walk *walk, GError **error) {
        g_autoptr(DIR) left = g_steal_pointer(entries_of(walk));

        if (walk->visitor->leave && !walk->visitor->leave(dirfd(left), walk->visitor->data, error))
                return false;
        g_array_set_size(walk->levels, walk->levels->len - 1);
        return walk->levels->len == 0 || *entries_of(walk) || reopen(walk, dirfd(left), error);
}

static bool visit(Walk *walk, int fd, const struct statx *st, const char *name, GError **error) {
        if (walk->visitor->stays_in_mount && st->stx_mnt_id != walk->mount)
                return true;
        return walk->visitor->visit(fd, st, name, walk->visitor->data, error) &&
               (!S_ISDIR(st->stx_mode) || enter(walk, fd, st) ||
                error_set_errno(error, errno, "cannot read '%s'", name));
}

static bool step(Walk *walk, GError **error) {
        Level *level = level_of(walk);
        DIR *entries = *entries_of(walk);
        const struct dirent *entry = directory_next_entry(entries);
        _cleanup_close_ int fd = -1;
        struct statx st;

        if (!entry)
                return errno == 0 ? leave(walk, error) : error_set_errno(error, errno, "cannot read a directory");
        level->at = level->next;
        level->next = entry->d_off;
        fd = openat(dirfd(entries), entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) /* somebody else's business, who has removed it */
                return true;
        if (fd < 0 || !look(fd, &st))
                return error_set_errno(error, errno, "cannot open '%s'", entry->d_name);
        if (S_ISDIR(st.stx_mode))
                level->entered = g_str_hash(entry->d_name);
        return visit(walk, fd, &st, entry->d_name, error);
}

static bool walk_once(Walk *walk, int fd, GError **error) {
        struct statx st;
        bool ok = look(fd, &st) || error_set_errno(error, errno, "cannot look at it");

        walk->is_lost = false;
        walk->mount = ok ? st.stx_mnt_id : 0;
        ok = ok && visit(walk, fd, &st, ".", error);
        while (ok && walk->levels->len > 0)
                ok = step(walk, error);
        g_array_set_size(walk->levels, 0);
        for (guint i = 0; i < OPEN_MAX; i++)
                close_entries(&walk->open[i]);
        return ok;
}

bool tree_walk(int fd, const TreeVisitor *visitor, GError **error) {
        g_autoptr(GArray) levels = g_array_new(FALSE, FALSE, sizeof(Level));
        Walk walk = { .visitor = visitor, .levels = levels };
        bool ok = walk_once(&walk, fd, error);

        for (int round = 1; !ok && walk.is_lost && round < ROUNDS_MAX; round++) {
                g_clear_error(error);
                ok = walk_once(&walk, fd, error);
        }
        return ok;
}
