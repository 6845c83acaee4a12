/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay/journal.h"

/* journald refuses a line of the header that is longer than a unit's name can be. */
#define TAG_MAX 200

/* What systemd asks for on the connections that it makes itself. */
#define SEND_BUFFER_SIZE (8 * 1024 * 1024)

int journal_connect(const char *path, const char *tag, const char *unit, int priority, GError **error) {
        /* Levels in front of lines count. The last three: forward to syslog, to kmsg, to the console. journald.conf
         * decides about that. */
        g_autofree char *header = g_strdup_printf("%.*s\n%s\n%d\n1\n0\n0\n0\n", TAG_MAX, tag, unit, priority);
        _cleanup_close_ int fd = socket_connect(SOCK_STREAM | SOCK_NONBLOCK, path, error);
        int size = SEND_BUFFER_SIZE;

        if (fd < 0)
                return -1;
        shutdown(fd, SHUT_RD);
        if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        /* A fresh socket has room for it, so it goes out as a whole. */
        if (send(fd, header, strlen(header), MSG_NOSIGNAL) != (ssize_t) strlen(header))
                return error_negative_errno(error, errno, "Cannot introduce a stream to the journal at '%s'", path);
        return fd_steal(&fd);
}

ssize_t journal_send(int stream, const char *data, size_t size, const struct ucred *sender) {
        const SocketExtra extra = { SCM_CREDENTIALS, sender, sizeof *sender };

        return socket_send(stream, NULL, data, size, &extra, MSG_DONTWAIT);
}
