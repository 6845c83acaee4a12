/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/lease.h"
#include "libstart/config/small-file.h"

#define MIB ((size_t) 1024 * 1024)

/* No file of a store comes near: images.json has about 2 KiB per image. */
#define FILE_SIZE_MAX (64 * MIB)

static gint64 nanoseconds(const struct timespec *ts) {
        return (gint64) ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static FileIdentity identity_of(const struct stat *st) {
        return (FileIdentity) {
                .device = st->st_dev,
                .inode = st->st_ino,
                .size = (guint64) st->st_size,
                .mtime = nanoseconds(&st->st_mtim),
                .ctime = nanoseconds(&st->st_ctim),
        };
}

bool file_identify(const char *path, FileIdentity *ret) {
        struct stat st;
        bool exists = stat(path, &st) == 0;

        *ret = exists ? identity_of(&st) : (FileIdentity) { 0 };
        return exists || errno == ENOENT || errno == ENOTDIR;
}

bool file_unchanged(const char *path, const FileIdentity *identity) {
        FileIdentity now;

        (void) file_identify(path, &now);
        return memcmp(&now, identity, sizeof(now)) == 0;
}

static bool check_file(int fd, const char *name, size_t max, struct stat *ret_st, GError **error) {
        if (fstat(fd, ret_st) < 0)
                return error_set_errno(error, errno, "Cannot look at %s", name);
        if (!S_ISREG(ret_st->st_mode))
                return error_set(error, KT_ERROR_FAILED, "%s is not a regular file", name);
        if ((guint64) ret_st->st_size <= max)
                return true;
        return max % MIB == 0 ? error_set(error, KT_ERROR_FAILED, "%s is over %zu MiB", name, max / MIB) :
                                error_set(error, KT_ERROR_FAILED, "%s is over %zu bytes", name, max);
}

/* One read() where the file has the size that it said: the buffer has room for one byte more, and a read
 * that does not fill it has met the end. */
static bool read_all(int fd, const char *name, char *buffer, size_t size, GError **error) {
        size_t length = 0;

        do {
                ssize_t n = read(fd, buffer + length, size + 1 - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set_errno(error, errno, "Cannot read %s", name);
                length += (size_t) n;
                if (length > size || (n == 0 && length < size))
                        return error_set(error, KT_ERROR_FAILED, "%s changed while it was read", name);
        } while (length < size);
        buffer[size] = '\0';
        return true;
}

bool file_read_fd(int fd, const char *name, size_t max, char **ret_text, struct stat *ret_st, GError **error) {
        g_autofree char *text = NULL;
        struct stat st;

        if (!check_file(fd, name, max, &st, error))
                return false;
        text = g_malloc((size_t) st.st_size + 1);
        if (!read_all(fd, name, text, (size_t) st.st_size, error))
                return false;
        if (ret_st)
                *ret_st = st;
        *ret_text = g_steal_pointer(&text);
        return true;
}

/* *ret is -1 where there is no file. */
static bool open_file(const char *path, int *ret, GError **error) {
        *ret = lease_open(path);
        return *ret >= 0 || errno == ENOENT || errno == ENOTDIR || lease_set_error(error, errno, path);
}

bool file_load(const char *path, char **ret_text, size_t *ret_length, FileIdentity *ret_identity, GError **error) {
        g_autofree char *name = g_strconcat("'", path, "'", NULL);
        _cleanup_close_ int fd = -1;
        struct stat st = { 0 };

        *ret_text = NULL;
        if (!open_file(path, &fd, error) || (fd >= 0 && !file_read_fd(fd, name, FILE_SIZE_MAX, ret_text, &st, error)))
                return false;
        *ret_length = (size_t) st.st_size;
        *ret_identity = identity_of(&st);
        return true;
}

bool file_read(const char *path, char **ret_text, size_t *ret_length, GError **error) {
        FileIdentity identity;
        size_t ignored;

        ret_length = ret_length ?: &ignored;
        return file_load(path, ret_text, ret_length, &identity, error);
}

bool generated_file_read(const char *path, char **ret_text, size_t *ret_length, GError **error) {
        size_t ignored;

        ret_length = ret_length ?: &ignored;
        for (int tries = 0; tries <= 200; tries++) {
                if (!file_read(path, ret_text, ret_length, error))
                        return false;
                if (*ret_length > 0) /* what is in it may begin with a NUL */
                        return true;
                g_clear_pointer(ret_text, g_free);
                g_usleep(10 * G_TIME_SPAN_MILLISECOND);
        }
        return error_set(error, KT_ERROR_NOT_FOUND, "'%s' is not there, or empty: systemctl daemon-reload", path);
}
