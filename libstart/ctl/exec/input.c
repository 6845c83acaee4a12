/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/ctl/exec/input.h"

bool input_init(Input *input, int from, int to, GError **error) {
        struct stat st = { 0 };

        (void) fstat(from, &st);
        *input = (Input) {
                .from = from,
                .to = to,
                .kind = S_ISREG(st.st_mode)  ? INPUT_FILE :
                        S_ISFIFO(st.st_mode) ? INPUT_PIPE :
                                               INPUT_OTHER,
                .room = true,
        };
        /* One page, so that there is room just when all was taken. */
        return input->kind == INPUT_FILE || fcntl(to, F_SETPIPE_SZ, PIPE_BUF) >= 0 ||
               error_set_errno(error, errno, "Cannot make a pipe");
}

/* That the command does not read is no error, nor is what cannot be read at all: nohup(1) gives such an input. A
 * terminal ends with EIO, and a socket with whoever is at its other end. */
static bool is_end(const Input *input, int errnum) {
        return errnum == EPIPE || errnum == EBADF || errnum == EISDIR || errnum == ECONNRESET || errnum == ENOTCONN ||
               (errnum == EIO && isatty(input->from));
}

static void fail(Input *input, int errnum) {
        if (!is_end(input, errnum))
                input->errnum = errnum;
}

/* How much of what was shown is still in the pipe. The container can write to that, too, and only harm itself. */
static gsize count_left(Input *input) {
        int left = 0;

        if (ioctl(input->to, FIONREAD, &left) < 0)
                fail(input, errno);
        return MIN((gsize) left, input->shown);
}

/* Remove from the caller's pipe what was taken, unless another reader has. */
static void discard(Input *input, gsize size) {
        char data[PIPE_BUF];

        while (size > 0) {
                ssize_t n = read(input->from, data, MIN(size, sizeof data));

                if (n < 0 && errno != EAGAIN && errno != EINTR)
                        fail(input, errno);
                if (n == 0 || (n < 0 && errno != EINTR))
                        return;
                size -= n > 0 ? (gsize) n : 0;
        }
}

/* Not every file of the kernel's can be read twice (ESPIPE). */
static void give_back(Input *input, gsize size) {
        if (size > 0 && lseek(input->from, -(off_t) size, SEEK_CUR) < 0 && errno != ESPIPE)
                fail(input, errno);
}

static void settle(Input *input, gsize left) {
        if (input->kind == INPUT_PIPE)
                discard(input, input->shown - left);
        else if (input->kind == INPUT_FILE)
                give_back(input, left);
        input->shown = 0;
}

void input_close(Input *input) {
        if (input->to >= 0)
                settle(input, count_left(input));
        fd_close(&input->from);
        fd_close(&input->to);
}

void input_ask(const Input *input, struct pollfd ask[2]) {
        bool file = input->kind == INPUT_FILE, wanted = !file && input->room && !input->away;

        /* Without events, whether anybody reads. */
        ask[0] = (struct pollfd) { .fd = wanted ? input->from : -1, .events = POLLIN };
        ask[1] = (struct pollfd) { .fd = input->end ? -1 : input->to, .events = file || !input->room ? POLLOUT : 0 };
}

static bool is_for_later(int errnum) {
        return errnum == EAGAIN || errnum == EINTR;
}

/* The command is to learn that there is no more, and we, when it has ended, how much it has left in the pipe: of a
 * pipe without a writer only a reader can tell that. */
static void end_file(Input *input) {
        int reader = fd_reopen(input->to, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

        if (reader < 0)
                fail(input, errno);
        fd_closep(&input->to);
        input->to = reader;
        input->end = true;
}

static void show_file(Input *input) {
        char data[64 * 1024];
        int left = 0;
        ssize_t n, written;

        (void) ioctl(input->to, FIONREAD, &left);
        n = read(input->from, data, MAX(sizeof data - MIN((gsize) left, sizeof data), PIPE_BUF));
        if (n < 0 && is_for_later(errno))
                return;
        if (n < 0)
                fail(input, errno);
        if (n <= 0) {
                end_file(input);
                return;
        }
        written = write(input->to, data, (size_t) n);
        written = MAX(written, 0);
        give_back(input, (gsize) (n - written));
        input->shown += (gsize) written;
}

/* All that is kept at once, as it is no more than PIPE_BUF. */
static ssize_t copy(Input *input) {
        ssize_t n = input->kept > 0 ? (ssize_t) input->kept : read(input->from, input->data, sizeof input->data);

        if (n <= 0)
                return n;
        input->kept = (gsize) n;
        n = write(input->to, input->data, input->kept);
        if (n > 0)
                input->kept = 0;
        return n;
}

/* A job in the background is not stopped for what is typed for another one, for the command may never want it:
 * SIGTTIN is blocked, and read(2) fails. */
static bool is_in_background(int fd) {
        pid_t foreground = tcgetpgrp(fd);

        return foreground >= 0 && foreground != getpgrp();
}

static void show(Input *input) {
        ssize_t n = input->kind == INPUT_PIPE ? tee(input->from, input->to, PIPE_BUF, SPLICE_F_NONBLOCK) :
                                                copy(input);
        int errnum = n < 0 ? errno : 0;

        input->room = false;
        if (n > 0)
                input->shown = (gsize) n;
        else if (errnum == EIO && is_in_background(input->from))
                input->away = input->room = true;
        else if (!is_for_later(errnum)) {
                fail(input, errnum);
                input_close(input);
        }
}

void input_step(Input *input, const struct pollfd ask[2]) {
        input->away = false;
        if (ask[1].revents & (POLLERR | POLLNVAL))
                input_close(input);
        else if (ask[1].revents & POLLOUT && input->kind == INPUT_FILE)
                show_file(input);
        else if (ask[1].revents & POLLOUT) {
                settle(input, /* left= */ 0);
                input->room = true;
                if (input->errnum) /* or what it has taken would be shown once more */
                        input_close(input);
                else if (input->kept > 0)
                        show(input);
        } else if (ask[0].revents)
                show(input);
}

bool input_check(const Input *input, GError **error) {
        return !input->errnum || error_set_errno(error, input->errnum, "Cannot read standard input");
}
