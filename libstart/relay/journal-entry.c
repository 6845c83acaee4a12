/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "libstart/base/fd.h"
#include "libstart/base/socket.h"
#include "libstart/relay/journal-entry.h"

#define ADDRESS "/run/systemd/journal/socket"
#define LEVEL_INFO '6'

/* Neither can hold a newline: one is the name of a unit, and the other's is checked in the registration. */
void journal_entry_fields(const char *unit, const char *tag, char ret[JOURNAL_FIELDS_MAX]) {
        g_snprintf(ret, JOURNAL_FIELDS_MAX, "USER_UNIT=%.300s\nSYSLOG_IDENTIFIER=%.300s\nSYSLOG_FACILITY=3\n", unit,
                   tag);
}

/* A worker's own, as long as it lives, or until the journal has another one. */
static int open_socket(int *fd) {
        const struct timeval patience = { .tv_sec = 2 };

        if (*fd < 0)
                *fd = socket_connect(SOCK_DGRAM, ADDRESS, NULL);
        if (*fd >= 0)
                (void) setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        return *fd;
}

/* "<6>": the level, or 0; *line is what follows. */
static int take_level(const char **line, size_t *size) {
        int level = 0;

        if (*size >= 3 && (*line)[0] == '<' && (*line)[1] >= '0' && (*line)[1] <= '7' && (*line)[2] == '>') {
                level = (unsigned char) (*line)[1];
                *line += 3;
                *size -= 3;
        }
        return level;
}

/* The message has its length before it, so that nothing in it is a field. Returns 0, or a negative errno where it
 * has to be sent again: -EBUSY, or -ECONNREFUSED where nobody reads what is sent to this socket any more. */
static int send_entry(int fd, const char *fields, int level, const char *line, size_t size) {
        char head[] = "PRIORITY=?\nMESSAGE\n";
        guint64 length = GUINT64_TO_LE(size);
        struct iovec parts[] = {
                { (void *) fields, strlen(fields) },
                { head, sizeof head - 1 },
                { &length, sizeof length },
                { (void *) line, size },
                { (void *) "\n", 1 },
        };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = G_N_ELEMENTS(parts) };

        head[strlen("PRIORITY=")] = (char) level;
        while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
                if (errno != EINTR)
                        return errno == EAGAIN ? -EBUSY : errno == ECONNREFUSED ? -errno : 0;
        return 0;
}

/* A line ends at a NUL, too, as in the other protocol. */
static size_t line_length(const char *data, size_t size) {
        const char *newline = memchr(data, '\n', size), *nul = memchr(data, '\0', size);

        return (size_t) ((newline && nul ? MIN(newline, nul) : newline ?: nul ?: data + size) - data);
}

ssize_t journal_entries_send(const char *fields, const char *data, size_t size) {
        static int fd = -1;

        if (open_socket(&fd) < 0)
                return -ENOTCONN;
        for (size_t done = 0, length; done < size; done += length + 1) {
                const char *line = data + done;
                size_t left;
                int level, r;

                left = length = line_length(line, size - done);
                level = take_level(&line, &left);
                r = left > 0 ? send_entry(fd, fields, level ?: LEVEL_INFO, line, left) : 0;
                if (r == -ECONNREFUSED)
                        fd_close(&fd);
                if (r < 0)
                        return done > 0 ? (ssize_t) done : r;
        }
        return (ssize_t) size;
}
