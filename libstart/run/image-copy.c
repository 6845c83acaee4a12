/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/run/image-copy.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/value/id-map.h"
#include "libstart/value/names.h"
#include "libstart/volume/tree-copy.h"

#define UNITS PATH_COPIES "/.units"
#define NEW ".new"
#define OLD ".old-"
#define GENERATED "/run/systemd/generator"
#define USED ".copy" /* in the container's directory on /run */

/* As long as a start waits for one: of an image of 1 GB it takes ten seconds on a disk, and minutes on an SD card. */
#define WAIT_SEC 900

/* Beginning with the number of this format. */
static char *make_key(const Root *root, const UserNamespace *userns) {
        g_autofree char *uids = id_map_format(userns->uids), *gids = id_map_format(userns->gids);
        g_autofree char *text = g_strconcat("1\n", root->image_id, "\n", uids, "\n", gids, NULL);

        return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

/* -1 on errors. */
static int lock(const char *path, int how, GError **error) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd >= 0 && flock(fd, how) == 0)
                return fd_steal(&fd);
        return error_negative_errno(error, errno, "Cannot lock '%s'", path);
}

/*
 * What nobody wants
 */

/* What a container's service, or what runs, says it uses. */
static bool add_used(GHashTable *used, const char *path, GError **error) {
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        if (text)
                g_hash_table_add(used, g_strdup(g_strchomp(text)));
        return true;
}

/* Where that cannot be told, it may be there. */
static bool is_certainly_missing(const char *path) {
        return access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* The generator writes into the early one where Podman's is there, too. */
static bool is_not_generated(const char *name) {
        g_autofree char *normal = g_build_filename(GENERATED, name, NULL);
        g_autofree char *early = g_build_filename(GENERATED ".early", name, NULL);

        return is_certainly_missing(normal) && is_certainly_missing(early);
}

/* While systemd calls its generators there seem to be no services. Then a copy goes that the next start has made
 * again. What an instance has is said by its own unit, or by that of the template. */
static bool is_left_over(const char *unit) {
        g_autofree char *name = name_ahead_unit("copy", unit);
        g_autofree char *own = g_strconcat(name, strchr(unit, '@') ? NULL : ".d", NULL);
        g_autofree char *template = g_strdup_printf("%.*s@.service", (int) strcspn(name, "@"), name);

        return is_not_generated(own) && (!strchr(unit, '@') || is_not_generated(template));
}

static bool find_wanted(GHashTable *used, GError **error) {
        g_auto(GStrv) units = directory_list(UNITS, error), running = units ? directory_list(PATH_RUN, error) : NULL;

        for (char **unit = units; running && *unit; unit++) {
                g_autofree char *path = g_build_filename(UNITS, *unit, NULL);

                if (is_left_over(*unit))
                        (void) unlink(path);
                else if (!add_used(used, path, error))
                        return false;
        }
        for (char **unit = running; unit && *unit; unit++) {
                g_autofree char *path = g_build_filename(PATH_RUN, *unit, USED, NULL);

                if (!add_used(used, path, error))
                        return false;
        }
        return running;
}

/* No start finds it from then on. */
static bool set_aside(GError **error) {
        _cleanup_close_ int copies = lock(PATH_COPIES, LOCK_EX, error);
        g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_auto(GStrv) names = copies >= 0 && find_wanted(used, error) ? directory_list(PATH_COPIES, error) : NULL;

        for (char **name = names; name && *name; name++) {
                g_autofree char *old = g_strconcat(OLD, *name, NULL);

                if ((*name)[0] != '.' && !g_hash_table_contains(used, *name) &&
                    renameat(copies, *name, copies, old) < 0)
                        return error_set_errno(error, errno, "Cannot rename '" PATH_COPIES "/%s'", *name);
        }
        return names;
}

/* One of ids that the user had at another time stays; half-made, it is put out of the way. */
static bool remove_old(int copies, GError **error) {
        g_auto(GStrv) names = directory_list(PATH_COPIES, error);

        for (char **name = names; name && *name; name++) {
                g_autofree char *aside = g_strdup_printf(OLD "%08x", g_random_int());
                g_autoptr(GError) problem = NULL;
                bool is_new = g_str_equal(*name, NEW);

                if ((!is_new && !g_str_has_prefix(*name, OLD)) || tree_remove(copies, *name, &problem))
                        continue;
                log_warning("~/.local/share/keyturn/copies: %s", problem->message);
                if (is_new && renameat(copies, NEW, copies, aside) < 0)
                        return error_set_errno(error, errno, "Cannot rename '" PATH_COPIES "/" NEW "'");
        }
        return names;
}

/* Returns the lock of who makes copies; -1 on errors. Where there are no copies, who had it before has removed it. */
static int begin(GError **error) {
        struct stat st = { 0 };

        while (st.st_nlink == 0) {
                _cleanup_close_ int units = -1;

                if (!directory_make(PATH_COPIES, 0700, error) || !directory_make(UNITS, 0700, error))
                        return -1;
                units = lock(UNITS, LOCK_EX, error);
                if (units < 0)
                        return -1;
                if (fstat(units, &st) == 0 && st.st_nlink > 0)
                        return fd_steal(&units);
        }
        return -1;
}

bool image_copy_forget(const char *unit, GError **error) {
        g_autofree char *path = g_build_filename(UNITS, unit, NULL);

        return unlink(path) == 0 || errno == ENOENT || error_set_errno(error, errno, "Cannot remove '%s'", path);
}

/* units: the lock. What is called OLD already was not removed to its end. */
static bool clean(int units, GError **error) {
        _cleanup_close_ int copies = openat(units, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return remove_old(copies, error) && set_aside(error) && remove_old(copies, error);
}

bool image_copy_clean(GError **error) {
        _cleanup_close_ int units = begin(error);

        if (units < 0 || !clean(units, error))
                return false;
        if (rmdir(UNITS) == 0) /* else there is a unit that has one */
                (void) rmdir(PATH_COPIES);
        return true;
}

/*
 * Making one
 */

/* Removed before the error is returned: a disk that is full is not to stay so. */
static bool fill(int copies, Root *root, const UserNamespace *userns, GError **error) {
        _cleanup_close_ int from = -1, to = -1;

        if (!root_peek(root, error))
                return false;
        from = openat(root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (from >= 0 && mkdirat(copies, NEW, 0700) == 0)
                to = openat(copies, NEW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (to < 0)
                return error_set_errno(error, errno, "Cannot make '" PATH_COPIES "/" NEW "'");
        return tree_copy_mapped(from, to, userns->uids, userns->gids, error) &&
               (syncfs(to) == 0 || error_set_errno(error, errno, "Cannot write to the disk"));
}

static bool make(int copies, const char *key, Root *root, const UserNamespace *userns, GError **error) {
        if (fill(copies, root, userns, error) &&
            (renameat(copies, NEW, copies, key) == 0 ||
             error_set_errno(error, errno, "Cannot rename '" PATH_COPIES "/" NEW "'"))) {
                (void) fsync(copies);
                return true;
        }
        g_prefix_error(error, "Cannot copy the image for the ids of the container (UserNS=): ");
        (void) tree_remove(copies, NEW, NULL);
        return false;
}

/* First of all, so that nobody takes it away, and what this unit had goes before there is another. */
bool image_copy_make(const char *unit, Root *root, const UserNamespace *userns, GError **error) {
        g_autofree char *key = make_key(root, userns), *wanted = g_build_filename(UNITS, unit, NULL);
        _cleanup_close_ int units = begin(error), copies = -1;

        if (units < 0 || !g_file_set_contents(wanted, key, -1, error) || !clean(units, error))
                return false;
        copies = openat(units, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return faccessat(copies, key, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || make(copies, key, root, userns, error);
}

/*
 * Finding one
 */

/* It may have found one that another unit has made. */
static bool note(const char *unit, const char *key, GError **error) {
        g_autofree char *path = g_build_filename(UNITS, unit, NULL), *noted = NULL;

        /* It goes with the last copy that nobody has noted. */
        return directory_make(UNITS, 0700, error) && file_read(path, &noted, NULL, error) &&
               (g_strcmp0(noted, key) == 0 || g_file_set_contents(path, key, -1, error));
}

/* Says so first, and looks then. NULL without an error where it is not there. */
static char *use(const char *unit, const char *directory, const char *key, GError **error) {
        g_autofree char *path = g_build_filename(PATH_COPIES, key, NULL);
        g_autofree char *used = g_build_filename(directory, USED, NULL);
        _cleanup_close_ int copies = -1, fd = -1;

        if (access(path, F_OK) < 0)
                return NULL;
        copies = lock(PATH_COPIES, LOCK_SH, error);
        fd = copies < 0 ? -1 : open(used, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (copies >= 0 && (fd < 0 || !fd_write_all(fd, key, strlen(key))))
                error_set_errno(error, errno, "Cannot write '%s'", used);
        else if (copies >= 0)
                (void) note(unit, key, error);
        return !*error && access(path, F_OK) == 0 ? g_steal_pointer(&path) : NULL;
}

char *image_copy_find(const char *unit, const char *directory, const Root *root, const UserNamespace *userns,
                      Notify *systemd, GError **error) {
        g_autofree char *key = make_key(root, userns), *path = use(unit, directory, key, error);
        g_autofree char *maker = name_ahead_unit("copy", unit);

        if (path || *error)
                return g_steal_pointer(&path);
        if (!unit_restart_for_start(maker, systemd, "copies the image", WAIT_SEC, error)) {
                unit_failure_explain(maker, error);
                return NULL;
        }
        path = use(unit, directory, key, error);
        if (!path && !*error)
                error_set(error, KT_ERROR_FAILED,
                          "The copy of the image for the container's ids is not there: %s makes it", maker);
        return g_steal_pointer(&path);
}
