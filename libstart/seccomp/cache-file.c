/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
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

        if (fd < 0)
                return error_null_errno(error, errno, "Cannot open %s", quoted);
        if (!file_read_fd(fd, quoted, SECCOMP_CACHE_MAX_BYTES, &data, &st, error))
                return NULL;
        if (check_owner(&st, error))
                entry = seccomp_cache_decode(data, (gsize) st.st_size, error);
        return entry ?: error_prefix_null(error, "%s: ", quoted);
}

bool seccomp_cache_write(const char *dir, const char *name, const SeccompCacheEntry *entry, GError **error) {
        g_autoptr(GBytes) bytes = seccomp_cache_encode(entry);
        g_autofree char *path = g_build_filename(dir, name, NULL);
        gsize length;
        const char *data = g_bytes_get_data(bytes, &length);

        return directory_make(dir, 0755, error) && directory_replace_file(path, data, length, 0644, NULL, error);
}
