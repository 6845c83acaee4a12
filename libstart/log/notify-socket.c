/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/log/notify-socket.h"

int notify_socket_connect(const char *address, GError **error) {
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        size_t length = strlen(address);
        _cleanup_close_ int fd = -1;

        if (length >= sizeof to.sun_path || (address[0] != '/' && address[0] != '@')) {
                error_set(error, KT_ERROR_FAILED, "NOTIFY_SOCKET is not understood: '%s'", address);
                return -1;
        }
        memcpy(to.sun_path, address, length);
        if (address[0] == '@')
                to.sun_path[0] = '\0';
        fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *) &to,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
                error_set_errno(error, errno, "Cannot reach systemd at '%s'", address);
                return -1;
        }
        return fd_steal(&fd);
}
