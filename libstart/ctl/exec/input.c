/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
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

/* How much of what was shown is still in the pipe. The container can write to that, too, and only harm itself. */
static gsize count_left(const Input *input) {
        int left = 0;

        return ioctl(input->to, FIONREAD, &left) == 0 ? MIN((gsize) left, input->shown) : 0;
}

/* Remove from the caller's pipe what was taken. */
static void discard(int from, gsize size) {
        char data[PIPE_BUF];

        while (size > 0) {
                ssize_t n = read(from, data, MIN(size, sizeof data));

                if (n <= 0 && errno != EINTR)
                        return;
                size -= n > 0 ? (gsize) n : 0;
        }
}

static void settle(Input *input, gsize left) {
        if (input->kind == INPUT_PIPE)
                discard(input->from, input->shown - left);
        else if (input->kind == INPUT_FILE && left > 0)
                (void) lseek(input->from, -(off_t) left, SEEK_CUR);
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

/* The command is to learn that there is no more, and we, when it has ended, how much it has left in the pipe: of a
 * pipe without a writer only a reader can tell that. */
static void end_file(Input *input) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", input->to);
        int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

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
        if (n <= 0) {
                end_file(input);
                return;
        }
        written = write(input->to, data, (size_t) n);
        written = MAX(written, 0);
        if (written < n)
                (void) lseek(input->from, written - n, SEEK_CUR);
        input->shown += (gsize) written;
}

static ssize_t copy(const Input *input) {
        char data[PIPE_BUF];
        ssize_t n = read(input->from, data, sizeof data);

        return n > 0 ? write(input->to, data, (size_t) n) : n;
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

        input->room = false;
        if (n > 0)
                input->shown = (gsize) n;
        else if (n < 0 && errno == EIO && is_in_background(input->from))
                input->away = input->room = true;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
                input_close(input);
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
        } else if (ask[0].revents)
                show(input);
}
