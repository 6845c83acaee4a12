/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/ctl/exec/channel.h"

int channel_reopen(int fd, int mode) {
        struct stat st;
        int own = -1;

        if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || isatty(fd)))
                own = fd_reopen(fd, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* poll(2) says of a pipe, a socket or a terminal only that there is some room. */
void channel_init(Channel *channel, int from, int to) {
        bool blocks = to >= 0 && !(fcntl(to, F_GETFL) & O_NONBLOCK);

        *channel = (Channel) {
                .from = from,
                .to = to,
                .limit = G_MAXSIZE,
                .portion = blocks ? PIPE_BUF : sizeof channel->data,
        };
}

void channel_close(Channel *channel) {
        fd_close(&channel->from);
        fd_close(&channel->to);
        channel->begin = channel->end = 0;
}

void channel_ask(const Channel *channel, struct pollfd ask[2]) {
        bool full = channel->begin < channel->end;

        ask[0] = (struct pollfd) { .fd = full ? -1 : channel->from, .events = POLLIN };
        ask[1] = (struct pollfd) { .fd = full ? channel->to : -1, .events = POLLOUT };
}

bool channel_fill(Channel *channel) {
        gsize size = MIN(sizeof channel->data, channel->limit);
        ssize_t n;
        bool ended;

        if (channel->begin < channel->end)
                return true;
        if (channel->from < 0 || size == 0)
                return false;
        n = read(channel->from, channel->data, size);
        ended = n == 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
                int errnum = errno;

                ended = true;
                channel->errnum = errnum == EIO && isatty(channel->from) ? 0 : errnum; /* a terminal ends with EIO */
        }
        if (ended)
                fd_close(&channel->from);
        channel->begin = 0;
        channel->end = n > 0 ? (gsize) n : 0;
        channel->limit -= channel->end;
        return channel->end > 0;
}

static bool drain(Channel *channel, GError **error) {
        gsize size = MIN(channel->end - channel->begin, channel->portion);
        ssize_t n = write(channel->to, channel->data + channel->begin, size);
        int errnum = errno;

        if (n >= 0) {
                channel->begin += (gsize) n;
                return true;
        }
        if (errnum == EAGAIN || errnum == EINTR)
                return true;
        channel_close(channel);
        return errnum == EPIPE || error_set_errno(error, errnum, "Cannot write the command's output");
}

bool channel_check(const Channel *channel, GError **error) {
        return !channel->errnum || error_set_errno(error, channel->errnum, "Cannot read the command's output");
}

bool channel_step(Channel *channel, const struct pollfd ask[2], GError **error) {
        if (ask[0].revents)
                (void) channel_fill(channel);
        return channel_check(channel, error) && (!ask[1].revents || drain(channel, error));
}
