/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/relay/journal.h"
#include "libstart/relay/pipe-job.h"
#include "libstart/relay/watch.h"

static void count_moved(PipeMove *move, gsize n) {
        move->moved += n;
        if (move->left != G_MAXSIZE)
                move->left -= n;
}

/* A user's relay sends entries, and in nobody's name. */
static ssize_t send_to_journal(char *data, size_t size, void *context) {
        PipeMove *move = context;
        bool in_name = move->fields[0] == '\0';
        ssize_t n;

        if (in_name && move->journal < 0)
                return -ENOTCONN;
        /* Asked as late as possible: by now the job may have waited long for the pipe. */
        if (in_name && move->payload >= 0 && watch_is_reaped(move->payload))
                return -ESRCH;
        size = MIN(size, move->left);
        level_prefix_lower(&move->prefix, data, size);
        n = in_name ? journal_send(move->journal, data, size, &move->sender) :
                      journal_entries_send(move->fields, data, size);
        if (n <= 0)
                return n;
        level_prefix_sent(&move->prefix, data, (gsize) n);
        count_moved(move, (gsize) n);
        return n;
}

/* FIFOs and terminals take no more than they have room for, and a worker does not wait for that. So they are opened
 * once more: others have the description that systemd opened, and want it blocking. -1: it is a file, or cannot be
 * opened. */
static int open_non_blocking(int file) {
        struct stat st;

        if (fstat(file, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
                return -1;
        return fd_reopen(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void open_sink(PipeMove *move) {
        if (move->sink < 0)
                move->sink = open_non_blocking(move->file);
        if (move->sink < 0)
                move->sink = move->file;
}

/* What a file does not take for good (it is full, its terminal is gone) is dropped, as it would be if the payload
 * wrote it: better to lose a part of a log than to stop who writes it. */
static ssize_t write_to_file(char *data, size_t size, void *context) {
        PipeMove *move = context;
        size_t done = 0;

        size = MIN(size, move->left);
        while (done < size) {
                ssize_t n = write(move->sink, data + done, size - done);

                if (n > 0)
                        done += (size_t) n;
                else if (n < 0 && errno == EAGAIN && done == 0)
                        return -EAGAIN;
                else if (n < 0 && errno == EAGAIN)
                        size = done;
                else if (n == 0 || errno != EINTR) {
                        move->lost_errnum = n == 0 ? EIO : errno;
                        move->lost += size - done;
                        done = size;
                }
        }
        count_moved(move, done);
        return (ssize_t) done;
}

static bool is_readable(int pipe) {
        struct pollfd readable = { .fd = pipe, .events = POLLIN };

        return poll(&readable, 1, 0) != 0;
}

/* One batch, and what has come meanwhile, up to another one. A file gets bytes as they come, not only whole lines. */
static void move_batches(PipeMove *move, Pump *pump) {
        PumpSend send = move->file >= 0 ? write_to_file : send_to_journal;

        do {
                move->result = pump_move(pump, move->pipe, move->hung_up || move->file >= 0, send, move);
                move->errnum = errno;
                if (move->result == PUMP_MORE && !is_readable(move->pipe))
                        move->result = PUMP_IDLE;
        } while (move->result == PUMP_MORE && move->moved < JOURNAL_BATCH_MAX && move->left > 0);
}

/* When the payload has ended, only what is in the pipe then is moved. It may have given the pipe to somebody
 * elsewhere who still writes: else containers that end would leave behind more and more. What cannot be asked now is
 * asked at the next move. */
static void measure(PipeMove *move) {
        int waiting;

        if (move->ended && move->left == G_MAXSIZE && ioctl(move->pipe, FIONREAD, &waiting) == 0)
                move->left = (gsize) waiting;
}

static void run_move(PipeMove *move, Pump *pump) {
        if (move->yield)
                sched_yield();
        if (move->file >= 0)
                open_sink(move);
        measure(move);
        if (move->left > 0)
                move_batches(move, pump);
        if (move->left == 0)
                move->result = PUMP_ENDED;
}

void pipe_job_run(PipeJob *job, Pump *pump) {
        gint64 begin = g_get_monotonic_time();

        if (job->kind == PIPE_JOB_MOVE)
                run_move(&job->move, pump);
        else
                fds_close(job->fds, PIPE_JOB_FDS_MAX);
        job->usec = g_get_monotonic_time() - begin;
        atomic_store(&job->done, true);
}
