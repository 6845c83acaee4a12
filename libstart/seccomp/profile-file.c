/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/seccomp/profile-file.h"

/* One byte more than a profile may have tells one that is too large from one that just fits. */
static char *read_text(int fd, gsize *ret_length, GError **error) {
        const gsize room = SECCOMP_PROFILE_MAX_BYTES + 1;
        g_autofree char *text = g_malloc(room);
        gsize length = 0;

        while (length < room) {
                ssize_t n = read(fd, text + length, room - length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        error_set_errno(error, errno, "cannot read it");
                        return NULL;
                }
                if (n == 0)
                        break;
                length += (gsize) n;
        }
        *ret_length = length;
        return g_steal_pointer(&text);
}

static SeccompProfile *load(const char *path, GError **error) {
        /* O_NONBLOCK: a FIFO in its place must not hold up the start until somebody writes. */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        gsize length;

        if (fd < 0 || fstat(fd, &st) < 0) {
                error_set_errno(error, errno, "cannot open it");
                return NULL;
        }
        if (!S_ISREG(st.st_mode)) {
                error_set(error, KT_ERROR_FAILED, "not a regular file");
                return NULL;
        }
        g_autofree char *text = read_text(fd, &length, error);
        return text ? seccomp_profile_parse(text, length, error) : NULL;
}

SeccompProfile *seccomp_profile_load(const char *root, const char *path, GError **error) {
        g_autofree char *full = g_strconcat(root, path, NULL);
        SeccompProfile *profile = load(full, error);

        if (!profile)
                g_prefix_error(error, "seccomp profile '%s': ", path);
        return profile;
}
