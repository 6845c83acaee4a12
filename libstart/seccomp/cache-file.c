/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/seccomp/cache-file.h"

/* Whoever runs this may be the owner too: that is root wherever containers start, and somebody else in a
 * test. */
static bool check_owner(const struct stat *st, GError **error) {
        if (!S_ISREG(st->st_mode))
                return error_set(error, KT_ERROR_FAILED, "not a regular file");
        if (st->st_uid != 0 && st->st_uid != geteuid())
                return error_set(error, KT_ERROR_FAILED, "it belongs to user %u instead of root", st->st_uid);
        if (st->st_mode & (S_IWGRP | S_IWOTH))
                return error_set(error, KT_ERROR_FAILED, "others than root may write to it (mode %04o)",
                                 st->st_mode & 07777);
        if (st->st_size > SECCOMP_CACHE_MAX_BYTES)
                return error_set(error, KT_ERROR_FAILED, "it is too large");
        return true;
}

/* The file may grow or shrink while it is being read; the digest tells. */
static SeccompCacheEntry *read_entry(int fd, size_t size, GError **error) {
        g_autofree char *data = g_malloc(size + 1);
        size_t length = 0;

        while (length < size) {
                ssize_t n = read(fd, data + length, size - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        error_set_errno(error, errno, "cannot read it");
                        return NULL;
                }
                if (n == 0)
                        break;
                length += (size_t) n;
        }
        return seccomp_cache_decode(data, length, error);
}

SeccompCacheEntry *seccomp_cache_read(const char *dir, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
        SeccompCacheEntry *entry = NULL;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                error_set_errno(error, errno, "cannot open it");
        else if (check_owner(&st, error))
                entry = read_entry(fd, (size_t) st.st_size, error);
        if (!entry)
                g_prefix_error(error, "'%s': ", path);
        return entry;
}

static bool write_all(int fd, GBytes *bytes, GError **error) {
        gsize length;
        const char *data = g_bytes_get_data(bytes, &length);

        while (length > 0) {
                ssize_t n = write(fd, data, length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return error_set_errno(error, errno, "cannot write it");
                data += n;
                length -= (gsize) n;
        }
        return fchmod(fd, 0644) == 0 || error_set_errno(error, errno, "cannot set its mode");
}

static bool replace(const char *temporary, const char *path, GBytes *bytes, GError **error) {
        _cleanup_close_ int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0)
                return error_set_errno(error, errno, "cannot create it");
        if (write_all(fd, bytes, error) &&
            (rename(temporary, path) == 0 || error_set_errno(error, errno, "cannot rename it")))
                return true;
        unlink(temporary);
        return false;
}

bool seccomp_cache_write(const char *dir, const char *name, const SeccompCacheEntry *entry, GError **error) {
        g_autoptr(GBytes) bytes = seccomp_cache_encode(entry);
        g_autofree char *path = g_build_filename(dir, name, NULL);
        /* Two writers of one name at one time are two processes. */
        g_autofree char *temporary = g_strdup_printf("%s/.%s.%d", dir, name, getpid());

        if (g_mkdir_with_parents(dir, 0755) < 0)
                return error_set_errno(error, errno, "cannot make '%s'", dir);
        if (replace(temporary, path, bytes, error))
                return true;
        g_prefix_error(error, "'%s': ", path);
        return false;
}
