/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/seccomp/profile-file.h"

/* One byte more than a profile may have tells one that is too large from one that just fits. */
static GBytes *read_text(int fd, GError **error) {
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
        return g_bytes_new_take(g_steal_pointer(&text), length);
}

static GBytes *read_profile(const char *path, GError **error) {
        /* O_NONBLOCK: a FIFO in its place must not hold up the start until somebody writes. */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0) {
                error_set_errno(error, errno, "cannot open it");
                return NULL;
        }
        if (!S_ISREG(st.st_mode)) {
                error_set(error, KT_ERROR_FAILED, "not a regular file");
                return NULL;
        }
        return read_text(fd, error);
}

GBytes *seccomp_profile_read(const char *root, const char *path, GError **error) {
        g_autofree char *full = g_strconcat(root, path, NULL);
        GBytes *text = read_profile(full, error);

        if (!text)
                g_prefix_error(error, "seccomp profile '%s': ", path);
        return text;
}

SeccompProfile *seccomp_profile_load(const char *root, const char *path, GError **error) {
        g_autoptr(GBytes) text = seccomp_profile_read(root, path, error);
        SeccompProfile *profile = NULL;

        if (text && !(profile = seccomp_profile_parse(g_bytes_get_data(text, NULL), g_bytes_get_size(text), error)))
                g_prefix_error(error, "seccomp profile '%s': ", path);
        return profile;
}
