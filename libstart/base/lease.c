/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "libstart/base/error.h"
#include "libstart/base/lease.h"

#define TRIES_MAX 100
#define PAUSE (10 * G_TIME_SPAN_MILLISECOND)

int lease_open(const char *path) {
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

        for (int i = 0; fd < 0 && errno == EWOULDBLOCK && i < TRIES_MAX; i++) {
                g_usleep(PAUSE);
                fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        }
        return fd;
}

bool lease_set_error(GError **error, int errnum, const char *name) {
        return errnum == EWOULDBLOCK ?
                       error_set(error, KT_ERROR_FAILED,
                                 "Cannot open '%s': another process holds a lease of it, and does not give it back "
                                 "(/proc/locks has its number)",
                                 name) :
                       error_set_errno(error, errnum, "Cannot open '%s'", name);
}
