/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/relay/journal.h"
#include "libstart/relay/pump.h"

/* Everything in a payload's pipe is the payload's: it may open the pipe again through /proc/self/fd, read from it,
 * give it another size, put packets or pages into it that it changes later, at any moment, between any two of our
 * calls. What is protected: nobody's bytes get into another's lines, and nothing here waits for bytes or for room, or
 * is repeated for as long as a payload likes. So the reading ends are non-blocking, and the scratch pipe, which all
 * share, is replaced as soon as it did not give back what was put into it.
 *
 * One thing here may wait: tee(2), read(2), ioctl(2), open(2) and the last close(2) of a pipe take the kernel's lock
 * of it. A writer has that lock while write(2) copies from its memory, which a payload can make slow. No call asks
 * for the lock without waiting, and not even SIGKILL ends the wait. So all of this runs in a worker (pipe-workers.h).
 */

static bool open_scratch(Pump *pump) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return false;
        pump->scratch_read = fds[0];
        pump->scratch_write = fds[1];
        return true;
}

static void close_scratch(Pump *pump) {
        fd_close(&pump->scratch_read);
        fd_close(&pump->scratch_write);
}

void pump_open(Pump *pump) {
        *pump = (Pump) { -1, -1, g_malloc(JOURNAL_BATCH_MAX) };
}

void pump_clear(Pump *pump) {
        close_scratch(pump);
        g_free(pump->buffer);
}

/* The whole of what tee(2) copied. Only packets come one by one, and there are not more of them than the scratch pipe
 * has slots. */
static bool read_scratch(const Pump *pump, ssize_t size) {
        ssize_t n;

        for (ssize_t got = 0; got < size; got += n) {
                do
                        n = read(pump->scratch_read, pump->buffer + got, JOURNAL_BATCH_MAX - (size_t) got);
                while (n < 0 && errno == EINTR);
                if (n <= 0)
                        return false;
        }
        return true;
}

/* Is there nothing left of an earlier call? A pipe can hold slots without a byte in them, which no read asked for. */
static bool is_scratch_empty(const Pump *pump) {
        struct pollfd readable = { .fd = pump->scratch_read, .events = POLLIN };

        return poll(&readable, 1, 0) == 0;
}

static bool replace_scratch(Pump *pump) {
        close_scratch(pump);
        return open_scratch(pump);
}

/* Returns the number of bytes, 0 at the pipe's end, or a negative errno. */
static ssize_t fill_scratch(const Pump *pump, int pipe) {
        ssize_t size;

        do
                size = tee(pipe, pump->scratch_write, JOURNAL_BATCH_MAX, SPLICE_F_NONBLOCK);
        while (size < 0 && errno == EINTR);
        return size < 0 ? -errno : size;
}

/* Copy what is in front of the pipe into the buffer. Returns the number of bytes, 0 at its end, or a
 * negative errno: -EAGAIN where there is nothing, -EIO or -EFAULT where it cannot be copied. */
static ssize_t peek(Pump *pump, int pipe) {
        ssize_t size;

        if (pump->scratch_read < 0 && !open_scratch(pump))
                return -EMFILE;
        size = fill_scratch(pump, pipe);
        /* What another's pipe has left there is not to cost this one its last line. */
        if (size <= 0 && !is_scratch_empty(pump))
                size = replace_scratch(pump) ? fill_scratch(pump, pipe) : -EMFILE;
        if (size <= 0 || read_scratch(pump, size))
                return size;
        /* What could not be read of a page (it was cut off its file meanwhile) would be in front for ever. */
        return replace_scratch(pump) ? -EIO : -EMFILE;
}

/* What was looked at is not in more pieces than the scratch pipe has slots, unless it was exchanged meanwhile. */
#define READS_MAX 32

/* By read(2), whose copy is wasted, because splice(2) to /dev/null can be killed within a line. Where the payload was
 * faster there is less; what it then wrote instead may be lost to it. */
static void take(const Pump *pump, int pipe, size_t size) {
        for (int i = 0; i < READS_MAX && size > 0; i++) {
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
        _cleanup_close_ int writer = fd_reopen(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        struct pollfd writable = { .fd = writer, .events = POLLOUT };

        /* Better a part of a line than a payload that waits for ever. */
        return writer < 0 || poll(&writable, 1, 0) == 0;
}

static size_t whole_lines(const Pump *pump, ssize_t size) {
        const char *newline = size > 0 ? memrchr(pump->buffer, '\n', (size_t) size) : NULL;

        return newline ? (size_t) (newline - pump->buffer) + 1 : 0;
}

/* There is the begin of a line and nothing else. Must its end be waited for? That there is more in the
 * pipe than the scratch pipe has slots for, or that the pipe is full, tells nothing if it was seen after
 * we looked into the pipe: the writer may have gone on meanwhile. So look again afterwards. */
static ssize_t peek_stuck(Pump *pump, int pipe, size_t *ret_batch) {
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

PumpResult pump_move(Pump *pump, int pipe, bool hung_up, PumpSend send, void *context) {
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
        /* The payload has put in what cannot be copied: it stays so until its next move. */
        if (size == -EAGAIN || size == -EIO || size == -EFAULT)
                return PUMP_IDLE;
        if (size < 0)
                return failed((int) -size);
        if (batch == 0)
                return PUMP_WAITING;
        sent = send(pump->buffer, batch, context);
        if (sent == -EAGAIN)
                return PUMP_BLOCKED;
        if (sent < 0)
                return failed((int) -sent);
        take(pump, pipe, (size_t) sent);
        return PUMP_MORE;
}
