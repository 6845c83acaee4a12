/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/config/small-file.h"
#include "libstart/seccomp/cache-file.h"

/* Containers are started by root. In a test the owner is whoever runs it. */
static bool check_owner(const struct stat *st, GError **error) {
        if (st->st_uid != 0 && st->st_uid != geteuid())
                return error_set(error, KT_ERROR_FAILED, "it belongs to user %u instead of root", st->st_uid);
        if (st->st_mode & (S_IWGRP | S_IWOTH))
                return error_set(error, KT_ERROR_FAILED, "others than root may write to it (mode %04o)",
                                 st->st_mode & 07777);
        return true;
}

SeccompCacheEntry *seccomp_cache_read(const char *dir, const char *name, GError **error) {
        g_autofree char *path = g_build_filename(dir, name, NULL), *data = NULL;
        g_autofree char *quoted = g_strconcat("'", path, "'", NULL);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
        SeccompCacheEntry *entry = NULL;
        struct stat st;

        if (fd < 0) {
                error_set_errno(error, errno, "Cannot open %s", quoted);
                return NULL;
        }
        if (!file_read_fd(fd, quoted, SECCOMP_CACHE_MAX_BYTES, &data, &st, error))
                return NULL;
        if (check_owner(&st, error))
                entry = seccomp_cache_decode(data, (gsize) st.st_size, error);
        if (!entry)
                g_prefix_error(error, "%s: ", quoted);
        return entry;
}

static bool replace(const char *temporary, const char *path, GBytes *bytes, GError **error) {
        _cleanup_close_ int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        gsize length;
        const char *data = g_bytes_get_data(bytes, &length);

        if (fd < 0)
                return error_set_errno(error, errno, "cannot create it");
        if (!fd_write_all(fd, data, length))
                error_set_errno(error, errno, "cannot write it");
        else if (fchmod(fd, 0644) < 0)
                error_set_errno(error, errno, "cannot set its mode");
        else if (rename(temporary, path) < 0)
                error_set_errno(error, errno, "cannot rename it");
        else
                return true;
        unlink(temporary);
        return false;
}

bool seccomp_cache_write(const char *dir, const char *name, const SeccompCacheEntry *entry, GError **error) {
        g_autoptr(GBytes) bytes = seccomp_cache_encode(entry);
        g_autofree char *path = g_build_filename(dir, name, NULL);
        /* Two writers of one name at one time are two processes. */
        g_autofree char *temporary = g_strdup_printf("%s/.%s.%d", dir, name, getpid());

        if (!directory_make(dir, 0755, error))
                return false;
        if (replace(temporary, path, bytes, error))
                return true;
        g_prefix_error(error, "'%s': ", path);
        return false;
}
