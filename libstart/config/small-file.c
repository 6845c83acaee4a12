/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/config/small-file.h"

/* No file of a store comes near: images.json has about 2 KiB per image. */
#define FILE_SIZE_MAX ((off_t) 64 * 1024 * 1024)

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

bool file_unchanged(const char *path, const FileIdentity *identity) {
        FileIdentity now = { 0 };
        struct stat st;

        if (stat(path, &st) == 0)
                now = identity_of(&st);
        return memcmp(&now, identity, sizeof(now)) == 0;
}

/* One read() where the file has the size that it said: the buffer has room for one byte more, and a read
 * that does not fill it has met the end. */
static bool read_all(int fd, char *buffer, size_t size, GError **error) {
        size_t length = 0;

        while (length <= size) {
                ssize_t n = read(fd, buffer + length, size + 1 - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set_errno(error, errno, "Cannot read");
                length += (size_t) n;
                if (length == size)
                        break;
                if (n == 0 || length > size)
                        return error_set(error, KT_ERROR_FAILED, "It changed while it was read");
        }
        buffer[size] = '\0';
        return true;
}

static bool check_file(int fd, struct stat *ret_st, GError **error) {
        if (fstat(fd, ret_st) < 0)
                return error_set_errno(error, errno, "Cannot stat");
        if (!S_ISREG(ret_st->st_mode))
                return error_set(error, KT_ERROR_FAILED, "It is not a regular file");
        if (ret_st->st_size > FILE_SIZE_MAX)
                return error_set(error, KT_ERROR_FAILED, "It is larger than 64 MiB");
        return true;
}

static bool read_open_file(int fd, char **ret_text, struct stat *ret_st, GError **error) {
        if (!check_file(fd, ret_st, error))
                return false;

        g_autofree char *text = g_malloc((size_t) ret_st->st_size + 1);
        if (!read_all(fd, text, (size_t) ret_st->st_size, error))
                return false;
        *ret_text = g_steal_pointer(&text);
        return true;
}

/* *ret is -1 where there is no file. */
static bool open_file(const char *path, int *ret, GError **error) {
        /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
        *ret = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        return *ret >= 0 || errno == ENOENT || errno == ENOTDIR ||
               error_set_errno(error, errno, "Cannot open '%s'", path);
}

bool file_read(const char *path, char **ret_text, size_t *ret_length, FileIdentity *ret_identity, GError **error) {
        _cleanup_close_ int fd = -1;
        struct stat st;

        if (!open_file(path, &fd, error))
                return false;
        if (fd < 0) {
                *ret_text = NULL;
                if (ret_length)
                        *ret_length = 0;
                if (ret_identity)
                        *ret_identity = (FileIdentity) { 0 };
                return true;
        }
        if (!read_open_file(fd, ret_text, &st, error)) {
                g_prefix_error(error, "%s: ", path);
                return false;
        }
        if (ret_length)
                *ret_length = (size_t) st.st_size;
        if (ret_identity)
                *ret_identity = identity_of(&st);
        return true;
}

bool file_map(const char *path, FileMap *ret, GError **error) {
        _cleanup_close_ int fd = -1;
        struct stat st;
        void *text;

        *ret = (FileMap) { 0 };
        if (!open_file(path, &fd, error))
                return false;
        if (fd < 0)
                return true;
        if (!check_file(fd, &st, error)) {
                g_prefix_error(error, "%s: ", path);
                return false;
        }
        ret->identity = identity_of(&st);
        if (st.st_size == 0)
                return true;
        /* Without MAP_POPULATE: the kernel maps 16 pages at a fault, no dearer, and only as far as is looked. */
        text = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (text == MAP_FAILED)
                return error_set_errno(error, errno, "Cannot map '%s'", path);
        ret->text = text;
        ret->length = (size_t) st.st_size;
        return true;
}

void file_unmap(FileMap *map) {
        if (map->text)
                munmap((void *) map->text, map->length);
        *map = (FileMap) { 0 };
}
