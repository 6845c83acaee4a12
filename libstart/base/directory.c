/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"

/* That nftw(3) keeps open at a time; it opens others anew. */
#define TREE_FDS_MAX 16

bool directory_make(const char *path, mode_t mode, GError **error) {
        bool made = mkdir(path, mode) == 0;

        if (!made && errno == ENOENT) {
                g_autofree char *above = g_path_get_dirname(path);

                if (!directory_make(above, 0755, error))
                        return false;
                made = mkdir(path, mode) == 0;
        }
        /* It is root's, so that nobody has put something else there meanwhile. */
        if (made && chmod(path, mode) < 0) {
                int chmod_errno = errno;

                (void) rmdir(path);
                return error_set_errno(error, chmod_errno, "Cannot make '%s'", path);
        }
        return made || errno == EEXIST || error_set_errno(error, errno, "Cannot make '%s'", path);
}

static bool check_owner(const char *path, GError **error) {
        struct stat st;

        if (stat(path, &st) < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot look at '%s'", path);
        if ((st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH) &&
            (!(st.st_mode & S_IWGRP) || st.st_gid == 0 || st.st_gid == getegid()))
                return true;
        return error_set(
                error, KT_ERROR_FAILED,
                "'%s' belongs to user %u, group %u, with mode %04o: others can write there. See whether what is in "
                "it is keyturn's, or remove it; then chmod -R go-w%s",
                path, st.st_uid, st.st_gid, st.st_mode & 07777,
                user_view_is_entered() ? "" : " and chown -R root:root");
}

bool directory_check_owner(const char *path, GError **error) {
        g_autofree char *above = g_path_get_dirname(path);

        return check_owner(above, error) && check_owner(path, error);
}

bool directory_make_kept(const char *path, mode_t mode, GError **error) {
        return directory_make(path, mode, error) && directory_check_owner(path, error);
}

DIR *directory_open(int fd) {
        int readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *entries = readable >= 0 ? fdopendir(readable) : NULL;

        if (!entries)
                fd_closep(&readable);
        return entries;
}

const struct dirent *directory_next_entry(DIR *entries) {
        const struct dirent *entry;

        do {
                errno = 0;
                entry = readdir(entries);
        } while (entry && (g_str_equal(entry->d_name, ".") || g_str_equal(entry->d_name, "..")));
        return entry;
}

const char *directory_next(DIR *entries) {
        const struct dirent *entry = directory_next_entry(entries);

        return entry ? entry->d_name : NULL;
}

static bool read_names(DIR *stream, GStrvBuilder *names) {
        const char *name;

        while ((name = directory_next(stream)))
                g_strv_builder_add(names, name);
        return errno == 0;
}

/* Not by GDir, which tells no error from the end, and whose errors load the locale's character set in a start. */
char **directory_list(const char *path, GError **error) {
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();
        g_autoptr(DIR) stream = opendir(path);

        if (stream ? read_names(stream, names) : errno == ENOENT || errno == ENOTDIR)
                return g_strv_builder_end(names);
        return error_null_errno(error, errno, "Cannot read '%s'", path);
}

#define UNFINISHED ".new"

static bool write_at(int directory, const char *name, const char *text, mode_t mode) {
        _cleanup_close_ int fd = openat(directory, UNFINISHED, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

        return fd >= 0 && fd_write_all(fd, text, strlen(text)) && fsync(fd) == 0 &&
               renameat(directory, UNFINISHED, directory, name) == 0 && fsync(directory) == 0;
}

bool directory_write_file(const char *path, const char *name, const char *text, mode_t mode, GError **error) {
        _cleanup_close_ int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (directory >= 0 && write_at(directory, name, text, mode))
                return true;
        error_set_errno(error, errno, "Cannot write '%s/%s'", path, name);
        (void) unlinkat(directory, UNFINISHED, 0);
        return false;
}

static bool is_at(int fd, const char *path) {
        struct stat st, found;

        return fstat(fd, &st) == 0 && lstat(path, &found) == 0 && st.st_dev == found.st_dev &&
               st.st_ino == found.st_ino;
}

/* Whoever had the lock before has renamed or removed the file that was opened. */
static int open_locked(const char *path) {
        for (;;) {
                _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
                bool locked = fd >= 0 && flock(fd, LOCK_EX) == 0;

                if (locked && is_at(fd, path))
                        return fd_steal(&fd);
                if (!locked && errno != EINTR)
                        return -1;
        }
}

bool directory_replace_file(const char *path, const char *data, size_t length, mode_t mode,
                            const struct timespec *times, GError **error) {
        g_autofree char *directory = g_path_get_dirname(path), *name = g_path_get_basename(path);
        g_autofree char *unfinished = g_strdup_printf("%s/.%s" UNFINISHED, directory, name);
        _cleanup_close_ int fd = open_locked(unfinished);

        if (fd >= 0 && ftruncate(fd, 0) == 0 && fd_write_all(fd, data, length) && fchmod(fd, mode) == 0 &&
            (!times || futimens(fd, times) == 0) && rename(unfinished, path) == 0)
                return true;
        error_set_errno(error, errno, "Cannot write '%s'", path);
        if (fd >= 0)
                (void) unlink(unfinished);
        return false;
}

static int remove_entry(const char *path, G_GNUC_UNUSED const struct stat *st, G_GNUC_UNUSED int type,
                        G_GNUC_UNUSED struct FTW *place) {
        return remove(path);
}

bool directory_remove_tree(const char *path) {
        return nftw(path, remove_entry, TREE_FDS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0 || errno == ENOENT;
}

/* All that is there, not names that are known: a file that was being written when its writer was killed has a name
 * that only GLib knows. */
bool directory_remove_files(const char *path, const char *kept, GError **error) {
        g_auto(GStrv) names = directory_list(path, error);

        for (char **name = names; name && *name; name++) {
                g_autofree char *file = g_build_filename(path, *name, NULL);

                if (g_strcmp0(*name, kept) != 0 && unlink(file) < 0 && errno != ENOENT && errno != EISDIR)
                        return error_set_errno(error, errno, "Cannot remove '%s'", file);
        }
        return names;
}
