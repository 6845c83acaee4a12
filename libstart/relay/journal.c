/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/relay/journal.h"

/* journald refuses a line of the header that is longer than a unit's name can be. */
#define TAG_MAX 200

/* What systemd asks for on the connections that it makes itself. */
#define SEND_BUFFER_SIZE (8 * 1024 * 1024)

char *journal_header(const char *tag, const char *unit, int priority, bool level_prefix) {
        /* The last three: forward to syslog, to kmsg, to the console. journald.conf decides about that. */
        return g_strdup_printf("%.*s\n%s\n%d\n%d\n0\n0\n0\n", TAG_MAX, tag, unit, priority, level_prefix);
}

int journal_connect(const char *path, const char *header, GError **error) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int size = SEND_BUFFER_SIZE;

        g_strlcpy(address.sun_path, path, sizeof address.sun_path);
        if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof address) < 0) {
                error_set_errno(error, errno, "Cannot connect to the journal at '%s'", path);
                return -1;
        }
        shutdown(fd, SHUT_RD);
        if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        /* A fresh socket has room for it, so it goes out as a whole. */
        if (send(fd, header, strlen(header), MSG_NOSIGNAL) != (ssize_t) strlen(header)) {
                error_set_errno(error, errno, "Cannot introduce a stream to the journal at '%s'", path);
                return -1;
        }
        return fd_steal(&fd);
}

ssize_t journal_send(int stream, const char *data, size_t size, const struct ucred *sender) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(struct ucred))];
        } control = { 0 };
        struct iovec vector = { (char *) data, size };
        struct msghdr message = {
                .msg_iov = &vector,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof control,
        };
        ssize_t n;

        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_CREDENTIALS;
        control.header.cmsg_len = CMSG_LEN(sizeof *sender);
        memcpy(CMSG_DATA(&control.header), sender, sizeof *sender);

        do
                n = sendmsg(stream, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}
