/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/image/lock.h"

/* "sha256:" and 64 digits. */
#define DIGEST_LENGTH 71

int image_lock(const char *name, GError **error) {
        g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);
        g_autofree char *path = g_build_filename(PATH_IMAGES, hash, NULL);
        _cleanup_close_ int fd = -1;

        if (g_mkdir_with_parents(PATH_IMAGES, 0755) < 0 || /* it may be world-readable: there are digests in it */
            (fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) < 0 || flock(fd, LOCK_EX) < 0) {
                error_set_errno(error, errno, "Cannot lock '%s'", path);
                return -1;
        }
        return fd_steal(&fd);
}

char *image_lock_rejected(int lock) {
        char digest[DIGEST_LENGTH + 1];
        ssize_t n = pread(lock, digest, DIGEST_LENGTH, 0);

        return n == DIGEST_LENGTH && g_str_has_prefix(digest, "sha256:") ? g_strndup(digest, DIGEST_LENGTH) : NULL;
}

bool image_lock_reject(int lock, const char *digest, GError **error) {
        if (ftruncate(lock, 0) < 0 || (digest && pwrite(lock, digest, strlen(digest), 0) < 0))
                return error_set_errno(error, errno, "Cannot write down which image was rolled back");
        return true;
}
