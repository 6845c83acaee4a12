/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/image/notes.h"
#include "libstart/image/unsynced.h"
#include "libstart/store/store-conf.h"

#define NEW ".new" /* while it is written */

static bool find_boot(char ret[static SD_ID128_STRING_MAX]) {
        sd_id128_t boot;

        if (sd_id128_get_boot(&boot) < 0)
                return false;
        (void) sd_id128_to_string(boot, ret);
        return true;
}

/* It appears with its text in it. */
static bool write_mark(const char *name) {
        g_autofree char *path = image_path(PATH_UNSYNCED, name), *new = g_strconcat(path, NEW, NULL);
        _cleanup_close_ int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
                            directory = open(PATH_UNSYNCED, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char boot[SD_ID128_STRING_MAX];
        int write_errno;

        if (fd >= 0 && directory >= 0 && find_boot(boot) && fd_write_all(fd, boot, strlen(boot)) && fsync(fd) == 0 &&
            rename(new, path) == 0 && fsync(directory) == 0)
                return true;
        write_errno = errno;
        /* What has not begun is not cut at the next boot. */
        (void) unlink(new);
        (void) unlink(path);
        errno = write_errno;
        return false;
}

/* What cannot be read, or was cut itself, is of a boot before. */
static bool is_of_before(const char *path) {
        g_autofree char *text = NULL;
        char boot[SD_ID128_STRING_MAX];

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return access(path, F_OK) == 0;
        return !find_boot(boot) || !g_str_equal(text, boot);
}

bool unsynced_was_cut(const char *name) {
        g_autofree char *mark = image_path(PATH_UNSYNCED, name), *cut = image_path(PATH_CUT, name);

        return is_of_before(mark) || access(cut, F_OK) == 0;
}

static int open_store(void) {
        g_autoptr(StoreConf) conf = store_conf_load("", NULL, NULL);

        return conf ? open(conf->stores[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* Not back after a power cut. */
static void remove_file(const char *directory, const char *path) {
        _cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (unlink(path) < 0 && errno != ENOENT)
                log_warning("'%s' cannot be removed, so the next boot takes its image for damaged: %s", path,
                            g_strerror(errno));
        else if (fd >= 0)
                (void) fsync(fd);
}

/* What is in PATH_UNSYNCED has the units that bring images run. */
static bool put_aside(const char *mark) {
        g_autofree char *file = g_path_get_basename(mark), *cut = g_build_filename(PATH_CUT, file, NULL);

        return directory_make_kept(PATH_CUT, 0700, NULL) && rename(mark, cut) == 0;
}

/* A mark of a boot before stays what it is. The descriptor is told of each error from here on, and syncfs(2) of those
 * of before, which are not this name's. */
bool unsynced_begin(const char *name, Unsynced *ret, GError **error) {
        g_autofree char *path = image_path(PATH_UNSYNCED, name);

        if (!directory_make_kept(PATH_UNSYNCED, 0700, error))
                return false;
        ret->name = g_strdup(name);
        ret->was_cut = unsynced_was_cut(name);
        ret->is_new = access(path, F_OK) < 0;
        ret->store = open_store();
        if (ret->store >= 0)
                (void) syncfs(ret->store);
        return !ret->is_new || write_mark(name) || error_set_errno(error, errno, "Cannot make '%s'", path);
}

void unsynced_clear(Unsynced *coming) {
        g_clear_pointer(&coming->name, g_free);
        fd_close(&coming->store);
}

static void forget(const char *name) {
        g_autofree char *mark = image_path(PATH_UNSYNCED, name), *cut = image_path(PATH_CUT, name);

        remove_file(PATH_UNSYNCED, mark);
        if (access(cut, F_OK) == 0)
                remove_file(PATH_CUT, cut);
}

bool unsynced_end(Unsynced *coming, bool has_come, bool whole, GError **error) {
        g_autofree char *mark = image_path(PATH_UNSYNCED, coming->name);

        if (coming->store < 0)
                coming->store = open_store();
        if (coming->store < 0) {
                log_warning("The image store cannot be written to its disk: it cannot be opened");
                return true;
        }
        if (syncfs(coming->store) < 0) {
                error_set_errno(error, errno, "The files cannot be written to the disk of the image store");
                (void) put_aside(mark);
                return false;
        }
        if (has_come && whole)
                forget(coming->name);
        else if (has_come)
                (void) put_aside(mark);
        else if (coming->is_new)
                remove_file(PATH_UNSYNCED, mark);
        return true;
}

bool unsynced_write_store(GError **error) {
        _cleanup_close_ int store = open_store();

        return (store >= 0 && syncfs(store) == 0) ||
               error_set_errno(error, errno, "The image store cannot be written to its disk");
}

bool unsynced_forget(const char *name, GError **error) {
        g_auto(Unsynced) coming = { .name = g_strdup(name), .store = -1 };

        return unsynced_end(&coming, /* has_come= */ true, /* whole= */ true, error);
}

/* No container waits for the lock. A build has none, and has ended where its image is there. */
void unsynced_settle(const char *name) {
        g_autofree char *mark = image_path(PATH_UNSYNCED, name), *notes = image_path(PATH_IMAGES, name);
        _cleanup_close_ int lock = open(notes, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        g_autoptr(GError) error = NULL;

        if ((lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0) || access(mark, F_OK) < 0 || unsynced_was_cut(name))
                return;
        if (!unsynced_forget(name, &error))
                log_warning("'%s' may be damaged: %s", name, error->message);
}

void unsynced_tell(void) {
        static bool is_told;

        if (is_told)
                return;
        is_told = true;
        log_warning("The machine went off while an image was brought, so one may be damaged: 'podman system check' "
                    "(5.2 or later) says which. Remove it (podman rmi, skopeo delete), and start its service again");
}

void unsynced_warn(void) {
        g_autoptr(GDir) directory = g_dir_open(PATH_UNSYNCED, 0, NULL);
        const char *name;
        bool found = false;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(PATH_UNSYNCED, name, NULL);

                found |= !g_str_has_suffix(name, NEW) && is_of_before(path) && !image_notes_lead_back(name) &&
                         (put_aside(path) || unlink(path) == 0);
        }
        if (found)
                unsynced_tell();
}
