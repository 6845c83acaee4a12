/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/ctl/exec/terminal.h"

bool terminal_make_raw(Terminal *terminal, int fd, GError **error) {
        struct termios raw;

        if (tcgetattr(fd, &terminal->settings) < 0)
                return error_set_errno(error, errno, "Cannot read the terminal's settings");
        raw = terminal->settings;
        cfmakeraw(&raw);
        if (tcsetattr(fd, TCSANOW, &raw) < 0)
                return error_set_errno(error, errno, "Cannot change the terminal's settings");
        terminal->fd = fd;
        return true;
}

void terminal_restore(Terminal *terminal) {
        if (terminal->fd >= 0)
                (void) tcsetattr(terminal->fd, TCSANOW, &terminal->settings);
        terminal->fd = -1;
}

void terminal_copy_size(int from, int to) {
        struct winsize size;

        if (ioctl(from, TIOCGWINSZ, &size) == 0)
                (void) ioctl(to, TIOCSWINSZ, &size);
}

int terminal_listen(const char *path, GError **error) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        mode_t mask = umask(0077);
        bool ok = fd >= 0 && strlen(path) < sizeof address.sun_path;

        if (ok) {
                strcpy(address.sun_path, path);
                (void) unlink(path); /* of one that was killed, with our number */
                ok = bind(fd, (struct sockaddr *) &address, sizeof address) == 0 && listen(fd, 1) == 0;
        } else if (fd >= 0)
                errno = ENAMETOOLONG;
        if (!ok)
                error_set_errno(error, errno, "Cannot make the socket '%s'", path);
        umask(mask);
        return ok ? fd_steal(&fd) : -1;
}

static int receive(int socket) {
        char data[16], control[CMSG_SPACE(sizeof(int))];
        struct iovec part = { data, sizeof data };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
        };
        const struct cmsghdr *header;
        int fd = -1;

        if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0)
                return -1;
        header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
            header->cmsg_len == CMSG_LEN(sizeof fd))
                memcpy(&fd, CMSG_DATA(header), sizeof fd);
        else
                errno = EPROTO;
        return fd;
}

int terminal_receive(int listener, GError **error) {
        _cleanup_close_ int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        int fd = connection < 0 ? -1 : receive(connection);

        if (fd < 0)
                error_set_errno(error, errno, "Cannot take the command's terminal");
        else
                (void) fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
        return fd;
}
