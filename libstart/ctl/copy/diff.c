/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/base/string-order.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/ctl/copy/commands.h"
#include "libstart/mount/overlay.h"
#include "libstart/root/made-files.h"
#include "libstart/table/table.h"

/* What a container has written to its root. The layer that it writes to is mounted nowhere (mount/writable-layer.c),
 * and the kernel lets nobody look into it. So the container's root is compared with its image's layers, mounted
 * without it.
 *
 * What libstart writes for a start is known by its content (root/made-files.h).
 *
 * An entry that the layers hold has the same inode in both, and so the same time of its last change (ctime). An entry
 * that was made in the writable layer, or copied there, has the time of that. No payload can set this time to hide
 * what it has written. A directory of the layers that has its own still has nothing below it that was written, and
 * need not be entered.
 *
 * The threat: all names are the payload's, and it renames and replaces while we look. Each directory is opened anew
 * from the root, no link is followed, no mount entered, and nothing but directories is opened. */

/* More than that could be made again faster than it is listed. The layer's limit of inodes is below it by far. */
#define ENTRIES_MAX 4000000U

/* Larger ones are not of the start. */
#define MADE_MAX (1U << 20)
#define MTAB "/proc/mounts"

typedef struct Diff {
        RunningFacts facts;
        int root, image;  /* descriptors of directories */
        guint64 mount;    /* the root's */
        GPtrArray *made;  /* what libstart has written (made-files.h) */
        guint n;          /* entries seen */
        bool is_complete; /* nothing was passed over */
        Table *table;
} Diff;

static void read_names(Diff *diff, int directory, GPtrArray *names) {
        g_autoptr(DIR) entries = directory_open(directory);
        const char *name;

        while (entries && diff->n < ENTRIES_MAX && (name = directory_next(entries))) {
                g_ptr_array_add(names, g_strdup(name));
                diff->n++;
        }
}

/* One side of a comparison, whose names are added; -1: it is not there. */
static int open_side(Diff *diff, int top, const char *path, GPtrArray *names) {
        int fd = resolve_open(top, path[1] ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
                              RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

        if (fd >= 0)
                read_names(diff, fd, names);
        else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EXDEV) {
                log_warning("Not looked at: %s: '%s'", error_describe(errno), path);
                diff->is_complete = false;
        }
        return fd;
}

/* False: it is not there. A node of device 0:0 in a single layer hides what is below it. */
static bool look(int side, const char *name, struct statx *ret) {
        bool there = side >= 0 && statx(side, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                                        STATX_BASIC_STATS | STATX_MNT_ID, ret) == 0;

        return there && !(S_ISCHR(ret->stx_mode) && ret->stx_rdev_major == 0 && ret->stx_rdev_minor == 0);
}

static bool is_same(const struct statx *a, const struct statx *b) {
        return a->stx_ctime.tv_sec == b->stx_ctime.tv_sec && a->stx_ctime.tv_nsec == b->stx_ctime.tv_nsec &&
               a->stx_mode == b->stx_mode;
}

/* What libstart writes for a start. */
static const char *const start_files[] = { "/etc/group",       "/etc/hostname",      "/etc/hosts",
                                           "/etc/mtab",        "/etc/passwd",        "/etc/localtime",
                                           "/etc/resolv.conf", "/run/.containerenv", NULL };

/* Directories that are made so that something can be below them. */
static bool leads_to_files_of_the_start(const Diff *diff, const char *path) {
        const runtime_spec_schema_config_schema *spec = diff->facts.config->container_def;

        for (const char *const *file = start_files; *file; file++)
                if (path_value_covers(path, *file))
                        return true;
        for (size_t i = 0; i < spec->mounts_len; i++)
                if (path_value_covers(path, spec->mounts[i]->destination))
                        return true;
        return made_files_lead_to(diff->made, path);
}

/* Of a directory the kernel itself changes what overlays keep with it, and so the ctime. It has no content: what is
 * in it is listed in any case. */
static bool is_directory_changed(const Diff *diff, const struct statx *now, const struct statx *before) {
        bool is_mapped = diff->facts.config->container_def->linux->uid_mappings_len >
                         0; /* other owners than the layers */

        return now->stx_mode != before->stx_mode ||
               (!is_mapped && (now->stx_uid != before->stx_uid || now->stx_gid != before->stx_gid));
}

/* As it was made: content, and a mode that it had or gets. */
static bool is_as_made(const Diff *diff, const char *path, const struct statx *now, const struct statx *before) {
        _cleanup_close_ int found = resolve_open(diff->root, path + 1, O_PATH | O_NOFOLLOW, 0,
                                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
        _cleanup_close_ int fd = S_ISREG(now->stx_mode) ? fd_open_regular(found) : -1;
        g_autofree char *text = NULL;
        struct stat st;
        char target[sizeof MTAB];

        if (S_ISLNK(now->stx_mode))
                return g_str_equal(path, "/etc/mtab") &&
                       readlinkat(found, "", target, sizeof target) == strlen(MTAB) &&
                       memcmp(target, MTAB, strlen(MTAB)) == 0;
        return fd >= 0 && (now->stx_mode == (S_IFREG | 0644) || (before && now->stx_mode == before->stx_mode)) &&
               file_read_fd(fd, path, MADE_MAX, &text, &st, NULL) &&
               made_files_contain(diff->made, path, text, (gsize) st.st_size);
}

/* Is it the start's doing? before: NULL where there was none. */
static bool is_of_the_start(const Diff *diff, const char *path, const struct statx *now, const struct statx *before) {
        if (!S_ISDIR(now->stx_mode))
                return g_strv_contains(start_files, path) && is_as_made(diff, path, now, before);
        return before && S_ISDIR(before->stx_mode) ? !is_directory_changed(diff, now, before) :
                                                     leads_to_files_of_the_start(diff, path);
}

static const char *describe_type(guint16 mode) {
        return S_ISREG(mode)  ? "file" :
               S_ISDIR(mode)  ? "directory" :
               S_ISLNK(mode)  ? "link" :
               S_ISFIFO(mode) ? "fifo" :
               S_ISSOCK(mode) ? "socket" :
                                "device";
}

static void add(const Diff *diff, const char *kind, const char *path, const struct statx *st) {
        table_add(diff->table, g_strdup(kind), g_strdup(describe_type(st->stx_mode)),
                  S_ISREG(st->stx_mode) ? g_strdup_printf("%ju", (uintmax_t) st->stx_size) : NULL, g_strdup(path));
}

/* Returns whether it is a directory that is to be entered. */
static bool compare_entry(const Diff *diff, int root, int image, const char *name, const char *path) {
        struct statx now, before;
        bool is_there = look(root, name, &now), was_there = look(image, name, &before);

        if (is_there && now.stx_mnt_id != diff->mount)
                return false;
        if (is_there && was_there && is_same(&now, &before))
                return false;
        if (!is_there) {
                if (was_there)
                        add(diff, "deleted", path, &before);
                return false;
        }
        if (!is_of_the_start(diff, path, &now, was_there ? &before : NULL))
                add(diff, was_there ? "changed" : "added", path, &now);
        return S_ISDIR(now.stx_mode);
}

static GPtrArray *compare_entries(Diff *diff, const char *path) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        _cleanup_close_ int root = open_side(diff, diff->root, path, names);
        _cleanup_close_ int image = open_side(diff, diff->image, path, names);
        GPtrArray *directories = g_ptr_array_new_with_free_func(g_free);

        g_ptr_array_sort(names, string_order);
        for (guint i = 0; root >= 0 && i < names->len; i++) {
                g_autofree char *below = g_build_filename(path, names->pdata[i], NULL);

                if (i > 0 && g_str_equal(names->pdata[i], names->pdata[i - 1])) /* it is in both */
                        continue;
                if (compare_entry(diff, root, image, names->pdata[i], below))
                        g_ptr_array_add(directories, g_steal_pointer(&below));
        }
        return directories;
}

/* Nothing is open while those below are looked at; the kernel's limit for a path ends the recursion. */
static void compare_directory(Diff *diff, const char *path) {
        g_autoptr(GPtrArray) directories = compare_entries(diff, path);

        for (guint i = 0; i < directories->len; i++)
                compare_directory(diff, directories->pdata[i]);
}

/* The layers as they were before the container. */
static int open_layers(const ContainerUnit *container, const RunningFacts *facts, GError **error) {
        g_autofree char *directory = container_unit_state_dir(container);
        g_autofree char *target = g_build_filename(directory, ".private", "root", NULL);
        g_autofree char *rootfs = g_str_has_suffix(container->args->image, ":O") ?
                                          g_strndup(container->args->image, strlen(container->args->image) - 2) :
                                          NULL;
        char *only[] = { rootfs, NULL };
        bool is_directory = container->args->rootfs == FLAG_TRUE;
        char **layers = is_directory ? only : facts->image ? facts->image->layers : NULL;
        bool attached;
        int fd = -1;

        if (is_directory && !rootfs)
                error_set(error, KT_ERROR_FAILED, "%s writes to '%s' itself: there is no layer to compare with",
                          container->unit, container->args->image);
        else if (launch_args_has_users_store(container->args))
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "The image that %s runs may be in the store of '%s', which keyturnctl does not look into",
                          container->unit, container->args->owner);
        else if (!layers)
                error_set(error, KT_ERROR_NOT_FOUND, "The image %s, which %s runs, is in no store any more",
                          facts->image_id ?: "", container->unit);
        else if (layers[1])
                fd = overlay_mount(layers, NULL, -1, &(MountLabel) { "context", NULL }, target, &attached, error);
        else if ((fd = open(layers[0], O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
                error_set_errno(error, errno, "Cannot open '%s'", layers[0]);
        return fd;
}

static bool open_both(const ContainerUnit *container, Diff *diff, GError **error) {
        _cleanup_close_ int payload = payload_open(container, error);
        g_autofree char *directory = container_unit_state_dir(container);
        struct statx st;

        if (payload < 0)
                return false;
        running_facts_find(container, &diff->facts);
        if (!diff->facts.config)
                return error_set(error, KT_ERROR_FAILED, "The state of %s cannot be read", container->unit);
        diff->made = made_files_recall(directory);
        diff->root = payload_open_files(container, payload, /* clone= */ false, error);
        if (diff->root < 0 || (diff->image = open_layers(container, &diff->facts, error)) < 0)
                return false;
        if (statx(diff->root, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at the container's root");
        diff->mount = st.stx_mnt_id;
        diff->is_complete = payload_is_in_place(container, diff->facts.config);
        return true;
}

int command_diff(const GPtrArray *all, const Options *options, char **words, GError **error) {
        static const char *const columns[] = { "CHANGE", "TYPE", "%SIZE", "PATH", NULL };
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(Table) table = table_new(columns);
        Diff diff = { .root = -1, .image = -1, .table = table };
        bool ok;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'diff' takes one container");
        if (!container)
                return -1;
        ok = payload_check_running(container, error) && open_both(container, &diff, error);
        if (ok)
                compare_directory(&diff, "/");
        running_facts_clear(&diff.facts);
        if (diff.made)
                g_ptr_array_unref(diff.made);
        fd_closep(&diff.root);
        fd_closep(&diff.image);
        if (!ok)
                return -1;
        if (diff.n >= ENTRIES_MAX) {
                log_warning("There are more than %u entries: what is shown is not all", ENTRIES_MAX);
                diff.is_complete = false;
        }
        table_print(table, options->json);
        return diff.is_complete ? 0 : 1;
}
