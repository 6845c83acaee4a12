/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/log/journal.h"
#include "libstart/log/pump.h"

bool pump_open(Pump *pump, GError **error) {
        g_auto(Pump) opened = PUMP_NULL;
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        opened.scratch_read = fds[0];
        opened.scratch_write = fds[1];
        opened.buffer = g_malloc(JOURNAL_BATCH_MAX);
        *pump = opened;
        opened = (Pump) PUMP_NULL;
        return true;
}

void pump_clear(Pump *pump) {
        fd_closep(&pump->scratch_read);
        fd_closep(&pump->scratch_write);
        g_free(pump->buffer);
        *pump = (Pump) PUMP_NULL;
}

/* Copy what is in front of the pipe into the buffer. Returns the number of bytes, 0 at its end, or a
 * negative errno. */
static ssize_t peek(const Pump *pump, int pipe) {
        ssize_t size, n;

        do
                size = tee(pipe, pump->scratch_write, JOURNAL_BATCH_MAX, SPLICE_F_NONBLOCK);
        while (size < 0 && errno == EINTR);
        if (size < 0)
                return -errno;
        for (ssize_t got = 0; got < size; got += n) {
                n = read(pump->scratch_read, pump->buffer + got, (size_t) (size - got));
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
        }
        return size;
}

/* By read(2), whose copy is wasted, because splice(2) to /dev/null can be killed within a line. */
static void take(const Pump *pump, int pipe, size_t size) {
        while (size > 0) {
                ssize_t n = read(pipe, pump->buffer, size);

                if (n > 0)
                        size -= (size_t) n;
                else if (n == 0 || errno != EINTR)
                        return;
        }
}

/* Would a writer have to wait? Only a writing end can be asked, and a pipe may be full with few bytes in
 * it: its slots count (and the payload may change their number). */
static bool is_full(int pipe) {
        char path[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
        struct pollfd writable = { .events = POLLOUT };
        _cleanup_close_ int writer = -1;

        snprintf(path, sizeof path, "/proc/self/fd/%d", pipe);
        writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (writer < 0)
                return true; /* better a part of a line than a payload that waits for ever */
        writable.fd = writer;
        return poll(&writable, 1, 0) == 0;
}

static size_t whole_lines(const Pump *pump, ssize_t size) {
        const char *newline = size > 0 ? memrchr(pump->buffer, '\n', (size_t) size) : NULL;

        return newline ? (size_t) (newline - pump->buffer) + 1 : 0;
}

/* There is the begin of a line and nothing else. Must its end be waited for? That there is more in the
 * pipe than the scratch pipe has slots for, or that the pipe is full, tells nothing if it was seen after
 * we looked into the pipe: the writer may have gone on meanwhile. So look again afterwards. */
static ssize_t peek_stuck(const Pump *pump, int pipe, size_t *ret_batch) {
        bool stuck = is_full(pipe);
        int waiting = 0;
        ssize_t size;

        if (ioctl(pipe, FIONREAD, &waiting) < 0)
                return -errno;
        size = peek(pump, pipe);
        *ret_batch = whole_lines(pump, size);
        if (*ret_batch == 0 && size > 0 && (stuck || waiting > size || size == JOURNAL_BATCH_MAX))
                *ret_batch = (size_t) size;
        return size;
}

static PumpResult failed(int errnum) {
        errno = errnum;
        return PUMP_FAILED;
}

PumpResult pump_move(const Pump *pump, int pipe, bool hung_up, PumpSend send, void *context) {
        ssize_t size = peek(pump, pipe), sent;
        size_t batch = whole_lines(pump, size);

        if (size > 0 && batch == 0) {
                if (hung_up || size == JOURNAL_BATCH_MAX)
                        batch = (size_t) size;
                else
                        size = peek_stuck(pump, pipe, &batch);
        }
        if (size == 0)
                return PUMP_ENDED;
        if (size == -EAGAIN)
                return PUMP_IDLE;
        if (size < 0)
                return failed((int) -size);
        if (batch == 0)
                return PUMP_IDLE;
        sent = send(pump->buffer, batch, context);
        if (sent == -EAGAIN)
                return PUMP_BLOCKED;
        if (sent < 0)
                return failed((int) -sent);
        take(pump, pipe, (size_t) sent);
        return PUMP_MORE;
}
