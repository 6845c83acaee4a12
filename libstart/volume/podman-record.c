/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/volume/podman-record.h"
#include "libstart/volume/volume.h"

#define PODMAN "/usr/bin/podman"
/* Beside _data: how the database was when Podman was asked last. */
#define ASKED ".keyturn-asked"
#define ASKED_MAX 1024
/* What it says then. Its exit status is 2, which is also that of a Go program without threads. */
#define IS_USED "volume is being used"

/* Podman writes to its database with each command that changes something. To ask it takes 40 ms, and on most machines
 * nobody calls it from one boot to the next. Transfer full; NULL: the database is elsewhere, or there is none yet. */
static char *describe_database(int directory) {
        static const char *const names[] = { "../db.sql", "../db.sql-wal", "../libpod/bolt_state.db" };
        g_autoptr(GString) text = g_string_new(NULL);
        struct stat st;

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (fstatat(directory, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
                        g_string_append_printf(text, "%s %lu %ld %ld.%09ld\n", names[i], (unsigned long) st.st_ino,
                                               (long) st.st_size, (long) st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

/* A user's Podman that is called in the view would write the view's places into it, and her own would fail from then
 * on. Without one it has no volumes. */
static bool would_make_database(int directory) {
        g_autofree char *database = user_view_is_entered() ? describe_database(directory) : NULL;

        return user_view_is_entered() && !database;
}

static bool is_asked(int directory, const char *name) {
        g_autofree char *path = g_build_filename(name, ASKED, NULL), *now = describe_database(directory),
                        *then = NULL;
        _cleanup_close_ int fd = openat(directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        return fd >= 0 && now && file_read_fd(fd, path, ASKED_MAX, &then, NULL, NULL) && g_str_equal(now, then);
}

/* Where it cannot be noted, Podman is asked again. */
static void note(int directory, const char *name) {
        g_autofree char *path = g_build_filename(name, ASKED, NULL), *now = describe_database(directory);
        _cleanup_close_ int fd = openat(directory, path,
                                        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

        if (fd >= 0 && now)
                (void) !write(fd, now, strlen(now));
}

/* Of other drivers than "local" the files are elsewhere, and would be removed there. */
static bool find_driver(const char *name, bool *ret_is_local, GError **error) {
        const char *words[] = { PODMAN, "volume", "inspect", "--format={{.Driver}}", name, NULL };
        g_autofree char *driver = NULL;
        int status;

        if (!g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &driver, NULL, &status, error) ||
            !g_spawn_check_wait_status(status, error))
                return false;
        *ret_is_local = g_str_equal(g_strchomp(driver), "local");
        return true;
}

static bool remove_record(const char *name, GError **error) {
        const char *words[] = { PODMAN, "volume", "rm", name, NULL };

        return host_program_run(words, NULL, error);
}

/* Podman removes the files with the record, so they are elsewhere meanwhile. A name is moved at once, or not at all;
 * whoever is interrupted in between is completed by the next one: put_back() is what it begins with. */
static bool put_back(int directory, const char *aside, const char *name, GError **error) {
        g_autofree char *data = NULL;

        if (renameat2(directory, aside, directory, name, RENAME_NOREPLACE) == 0 || errno == ENOENT)
                return true;
        /* Somebody has named it meanwhile, and found nothing. */
        data = g_build_filename(name, "_data", NULL);
        if (errno == EEXIST && (unlinkat(directory, data, AT_REMOVEDIR) == 0 || errno == ENOENT) &&
            unlinkat(directory, name, AT_REMOVEDIR) == 0 &&
            renameat2(directory, aside, directory, name, RENAME_NOREPLACE) == 0)
                return true;
        return error_set_errno(error, errno, "The files of the volume '%s' are in '%s', and cannot be put back", name,
                               aside);
}

/* Podman is asked again next time, unless it has said that it does not have it, or that a container uses it. */
static bool drop(int directory, const char *name, const char *aside, bool *ret_is_answered, GError **error) {
        g_autoptr(GError) problem = NULL;
        bool is_there, is_local = false;

        *ret_is_answered = podman_record_find(name, &is_there, &problem) &&
                           (!is_there || find_driver(name, &is_local, &problem));
        if (!*ret_is_answered)
                log_notice("The volume '%s' may be in Podman's database, where podman volume prune finds it: %s",
                           name, problem->message);
        if (!is_local)
                return true;
        if (renameat2(directory, name, directory, aside, RENAME_NOREPLACE) < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot move the volume '%s'", name);
        if (!remove_record(name, &problem)) {
                *ret_is_answered = strstr(problem->message, IS_USED);
                log_notice("The volume '%s' stays in Podman's database: podman volume prune removes it once no "
                           "container of Podman's uses it (%s)",
                           name, problem->message);
        }
        return put_back(directory, aside, name, error);
}

bool podman_record_find(const char *name, bool *ret_is_there, GError **error) {
        const char *words[] = { PODMAN, "volume", "exists", name, NULL };
        int status;

        *ret_is_there = false;
        if (access(PODMAN, X_OK) < 0) /* no user has volumes in a Podman that is not hers */
                return errno == ENOENT || (errno == EACCES && getuid() != 0) ||
                       error_set_errno(error, errno, "Cannot ask " PODMAN " whether it has the volume '%s'", name);
        if (!g_spawn_sync(NULL, (char **) words, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, error))
                return false;
        *ret_is_there = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
        return *ret_is_there || (WIFEXITED(status) && WEXITSTATUS(status) == 1) ||
               error_set(error, KT_ERROR_FAILED,
                         "podman volume exists '%s' does not say whether Podman has the volume", name);
}

bool podman_record_drop(const char *directory, const char *name, GError **error) {
        g_autofree char *aside = g_strconcat(VOLUME_ASIDE, name, NULL);
        _cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;
        bool is_answered;

        if (fd < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot open '%s'", directory);
        lock = volumes_lock(directory, error); /* two services may be for the same volume */
        if (lock < 0)
                return false;
        if (!put_back(fd, aside, name, error))
                return false;
        if (access(PODMAN, X_OK) < 0 || faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 || is_asked(fd, name) ||
            would_make_database(fd))
                return true;
        if (!drop(fd, name, aside, &is_answered, error))
                return false;
        if (is_answered)
                note(fd, name);
        return true;
}
