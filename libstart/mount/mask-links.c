/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/mask-links.h"

#define LINKS_MAX 40 /* as in the kernel */

/* What is at a path. */
typedef enum Look {
        IS_LINK,
        IS_NONE,
        IS_UNKNOWN, /* with errno */
} Look;

/* Nothing is there, a link has come in the way, or (readlinkat(2) of a descriptor) it is none. */
static Look look_at_errno(void) {
        static const int none[] = { ENOENT, ENOTDIR, ELOOP, EINVAL };

        for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
                if (errno == none[i])
                        return IS_NONE;
        return IS_UNKNOWN;
}

static Look read_link(int root_fd, const char *path, char target[PATH_MAX]) {
        _cleanup_close_ int fd = resolve_open(root_fd, path, O_PATH | O_NOFOLLOW, 0,
                                              RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
        ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", target, PATH_MAX - 1);

        if (n <= 0)
                return n < 0 ? look_at_errno() : IS_NONE;
        target[n] = '\0';
        return IS_LINK;
}

/* How many names go with the one at the end of a path without links. */
static guint count_dropped(const char *name) {
        return g_str_equal(name, "..") ? 2 : !*name || g_str_equal(name, ".") ? 1 : 0;
}

static void drop(char **path, gsize end, guint n_names) {
        g_autofree char *before = NULL, *whole = *path;
        gsize begin = end;

        for (; n_names > 0; n_names--)
                while (begin > 0 && whole[--begin] != '/')
                        ;
        before = g_strndup(whole, begin);
        *path = g_strconcat(before, whole + end, NULL);
}

/* `places`: where mounts are, without links; as many as are known, NULL at the end. */
static bool is_in_mount(char *const *places, const char *path) {
        for (; *places; places++)
                if (path_value_covers(*places, path))
                        return true;
        return false;
}

/* Replaces the first link on the way by where it leads, up to where a mount begins: what is in that is others'. ".."
 * behind a link is above where that leads, so it is taken only where no link is before it. */
static Look follow_first(int root_fd, char *const *places, char **path) {
        char target[PATH_MAX];
        gsize end = 0;

        while ((*path)[end]) {
                g_autofree char *way = NULL, *parent = g_strndup(*path, end), *whole = NULL;
                gsize begin = end + 1;
                guint n_dropped;
                Look look;

                end = begin + strcspn(*path + begin, "/");
                way = g_strndup(*path, end);
                if (is_in_mount(places, way))
                        return IS_NONE;
                n_dropped = count_dropped(way + begin);
                if (n_dropped > 0) {
                        drop(path, end, n_dropped);
                        end = 0;
                        continue;
                }
                look = read_link(root_fd, way, target);
                if (look == IS_LINK) {
                        whole = *path;
                        *path = target[0] == '/' ? g_strconcat(target, whole + end, NULL) :
                                                   g_strconcat(parent, "/", target, whole + end, NULL);
                }
                if (look != IS_NONE)
                        return look;
        }
        return IS_NONE;
}

/* Into a mount and, by somebody else's names, out of it? */
static bool leads_out(const char *followed) {
        g_auto(GStrv) names = g_strsplit(followed, "/", -1);

        return g_strv_contains((const char *const *) names, "..");
}

/* NULL with errno. Transfer full. */
static char *follow_all(int root_fd, char *const *places, const char *path) {
        g_autofree char *followed = g_strdup(path);
        Look look = IS_LINK;

        for (int i = 0; i < LINKS_MAX && look == IS_LINK; i++)
                look = follow_first(root_fd, places, &followed);
        if (look == IS_UNKNOWN)
                return NULL;
        return leads_out(followed) ? g_steal_pointer(&followed) : path_value_clean(followed);
}

/* In the order in which they were mounted: what came later was not in the way of those before. NULL with errno.
 * Transfer full. */
static char **find_places(int root_fd, const MountPlan *plan) {
        g_auto(GStrv) places = g_new0(char *, plan->n_mounts + 1);

        for (guint i = 0; i < plan->n_mounts; i++) {
                places[i] = follow_all(root_fd, places, plan->mounts[i]->oci->destination);
                if (!places[i])
                        return NULL;
        }
        return g_steal_pointer(&places);
}

static bool is_unknown(char *const *places) {
        for (; *places; places++)
                if (leads_out(*places))
                        return true;
        return false;
}

/* The volume that is seen at `path`: of those at or above it the deepest one, and of several on one place the last.
 * Not one that is at `path` itself, unless `or_same`. -1: none. */
static int find_above(const MaskLinks *links, const char *path, bool or_same) {
        char *const *places = links->places;
        int found = -1;

        for (guint i = 0; i < links->mounts->n_mounts; i++)
                if (links->mounts->mounts[i]->is_bind && path_value_covers(places[i], path) &&
                    (or_same || !g_str_equal(places[i], path)) &&
                    (found < 0 || strlen(places[i]) >= strlen(places[found])))
                        found = (int) i;
        return found;
}

/* Or nobody can tell. */
static bool has_link(const MaskLinks *links, const char *path) {
        _cleanup_close_ int fd = resolve_open(links->root, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);

        return fd < 0 && errno != ENOENT && errno != ENOTDIR;
}

/* The volume in `outer` to which, or from `path` to which, a link of that volume's own may lead; or -1. Another
 * runtime has mounted nothing yet, and the links of the outer one are not seen. */
static int find_led_inside(const MaskLinks *links, int outer, const char *path) {
        const char *place = links->places[outer];

        for (guint i = 0; i < links->mounts->n_mounts; i++)
                if (links->mounts->mounts[i]->is_bind && !g_str_equal(links->places[i], place) &&
                    path_value_covers(place, links->places[i]) &&
                    (links->is_by_path || has_link(links, path) || has_link(links, links->places[i])))
                        return (int) i;
        return -1;
}

void mask_links_clear(MaskLinks *links) {
        g_clear_pointer(&links->places, g_strfreev);
}

static bool refuse(const MaskLinks *links, const char *path, const char *destination, const char *around,
                   GError **error) {
        if (links->is_by_path)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "Cannot mask the container's '%s' by another runtime: '%s' is mounted in %s, where "
                                 "others could move it away meanwhile; remove Runtime=, or mount it elsewhere",
                                 path, destination, around);
        return error_set(
                error, KT_ERROR_FAILED,
                "Cannot mask the container's '%s': a link leads from there, or from '%s', into a mount that is in "
                "%s, where others could move it away; name both paths without links",
                path, destination, around);
}

bool mask_links_check(MaskLinks *links, const char *path, GError **error) {
        g_autofree char *followed = NULL;
        const char *destination;
        bool is_nested;
        int mount, inside;

        if (!links->places)
                links->places = find_places(links->root, links->mounts);
        followed = links->places ? follow_all(links->root, links->places, path) : NULL;
        if (!followed)
                return error_set_errno(error, errno, "Cannot mask the container's '%s'", path);
        if (leads_out(followed) || is_unknown(links->places))
                return error_set(error, KT_ERROR_FAILED,
                                 "Cannot mask the container's '%s': a link leads from there, or from a mount's path, "
                                 "into a mount and out of it; name the paths without links",
                                 path);
        mount = find_above(links, followed, true);
        if (mount < 0)
                return true;
        destination = links->mounts->mounts[mount]->oci->destination;
        if (!mount_plan_check_not_shared(links->mounts, destination, "Mask= in", error))
                return false;
        inside = find_led_inside(links, mount, followed);
        if (inside >= 0)
                return refuse(links, path, links->mounts->mounts[inside]->oci->destination, "another one", error);
        is_nested = find_above(links, links->places[mount], false) >= 0;
        if ((!links->is_by_path && path_value_covers(destination, path)) || (!links->is_root_shared && !is_nested))
                return true;
        return refuse(links, path, destination, is_nested ? "another one" : "a root directory (Rootfs=)", error);
}
