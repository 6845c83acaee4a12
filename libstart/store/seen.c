/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/store/seen.h"

/* No file of a store comes near: images.json has about 2 KiB per image. */
#define FILE_SIZE_MAX ((off_t) 64 * 1024 * 1024)

typedef struct SeenFile {
        char *path;
        FileIdentity identity;
} SeenFile;

struct Seen {
        GArray *files; /* of SeenFile */
};

static void clear_file(gpointer data) {
        g_free(((SeenFile *) data)->path);
}

Seen *seen_new(void) {
        Seen *seen = g_new0(Seen, 1);

        seen->files = g_array_new(FALSE, FALSE, sizeof(SeenFile));
        g_array_set_clear_func(seen->files, clear_file);
        return seen;
}

void seen_free(Seen *seen) {
        if (!seen)
                return;
        g_array_unref(seen->files);
        g_free(seen);
}

void seen_add(Seen *seen, const char *path, const FileIdentity *identity) {
        SeenFile file = { .path = g_strdup(path), .identity = *identity };

        g_array_append_val(seen->files, file);
}

void seen_add_all(Seen *seen, const Seen *other) {
        for (unsigned i = 0; i < seen_count(other); i++)
                seen_add(seen, seen_path(other, i), seen_identity(other, i));
}

unsigned seen_count(const Seen *seen) {
        return seen->files->len;
}

const char *seen_path(const Seen *seen, unsigned i) {
        return g_array_index(seen->files, SeenFile, i).path;
}

const FileIdentity *seen_identity(const Seen *seen, unsigned i) {
        return &g_array_index(seen->files, SeenFile, i).identity;
}

bool seen_unchanged(const Seen *seen) {
        for (unsigned i = 0; i < seen_count(seen); i++) {
                FileIdentity now = file_identity_at(seen_path(seen, i));

                if (memcmp(&now, seen_identity(seen, i), sizeof(now)) != 0)
                        return false;
        }
        return true;
}

static gint64 nanoseconds(const struct timespec *ts) {
        return (gint64) ts->tv_sec * 1000000000 + ts->tv_nsec;
}

FileIdentity file_identity(const struct stat *st) {
        return (FileIdentity) {
                .device = st->st_dev,
                .inode = st->st_ino,
                .size = (guint64) st->st_size,
                .mtime = nanoseconds(&st->st_mtim),
                .ctime = nanoseconds(&st->st_ctim),
        };
}

FileIdentity file_identity_at(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return (FileIdentity) { 0 };
        return file_identity(&st);
}

/* One read() where the file has the size that it said: the buffer has room for one byte more, and a read that
 * does not fill it has met the end. */
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

static bool read_open_file(int fd, Seen *seen, const char *path, char **ret_text, size_t *ret_length,
                           GError **error) {
        struct stat st;

        if (fstat(fd, &st) < 0)
                return error_set_errno(error, errno, "Cannot stat");
        if (!S_ISREG(st.st_mode))
                return error_set(error, KT_ERROR_FAILED, "It is not a regular file");
        if (st.st_size > FILE_SIZE_MAX)
                return error_set(error, KT_ERROR_FAILED, "It is larger than 64 MiB");

        g_autofree char *text = g_malloc((size_t) st.st_size + 1);
        if (!read_all(fd, text, (size_t) st.st_size, error))
                return false;

        if (seen) {
                FileIdentity identity = file_identity(&st);
                seen_add(seen, path, &identity);
        }
        *ret_text = g_steal_pointer(&text);
        if (ret_length)
                *ret_length = (size_t) st.st_size;
        return true;
}

bool file_read(const char *path, Seen *seen, char **ret_text, size_t *ret_length, GError **error) {
        /* O_NONBLOCK: opening a FIFO must not wait for a writer. */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
                if (seen)
                        seen_add(seen, path, &(FileIdentity) { 0 });
                *ret_text = NULL;
                return true;
        }
        if (fd < 0)
                return error_set_errno(error, errno, "Cannot open '%s'", path);
        if (!read_open_file(fd, seen, path, ret_text, ret_length, error)) {
                g_prefix_error(error, "%s: ", path);
                return false;
        }
        return true;
}
