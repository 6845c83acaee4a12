/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/relay/file-writer.h"

#define STACK_SIZE (64U * 1024U)

/* After so many it is said what was lost, and whether there is anything else to do. */
#define BATCHES_MAX 64

bool file_writer_open(FileWriter *writer, GError **error) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        *writer = (FileWriter) { fds[0], fds[1] };
        return true;
}

void file_writer_clear(FileWriter *writer) {
        fd_closep(&writer->done_read);
        fd_closep(&writer->done_write);
        *writer = (FileWriter) FILE_WRITER_NULL;
}

/* How long what a payload has left waits for room, once the payload has ended: a service that ends again and again, while
 * nobody reads its FIFO, would else leave a thread behind each time. */
#define PATIENCE_MSEC 1000

/* Whether it makes sense to try again; errno is of the last try. */
static bool wait_for(const FileTurn *turn, int file) {
        struct pollfd writable = { .fd = file, .events = POLLOUT };
        int r = 0;

        if (errno != EAGAIN)
                return errno == EINTR;
        do
                r = poll(&writable, 1, PATIENCE_MSEC);
        while (r == 0 && !g_atomic_int_get(&turn->ended));
        errno = EAGAIN;
        return r != 0;
}

/* FIFOs and terminals take no more than they have room for, and to wait is ours. So they are opened once more: others have
 * the description that systemd opened, and want it blocking. -1: it is a file, or cannot be opened. */
static int open_non_blocking(int file) {
        char path[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
        struct stat st;

        if (fstat(file, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
                return -1;
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static ssize_t write_file(char *data, size_t size, void *context) {
        FileTurn *turn = context;
        size_t done = 0;

        size = MIN(size, *turn->left);
        while (done < size) {
                ssize_t n = write(turn->sink, data + done, size - done);

                if (n > 0)
                        done += (size_t) n;
                else if (n == 0 || !wait_for(turn, turn->sink)) {
                        turn->lost_errnum = n == 0 ? EIO : errno;
                        break;
                }
        }
        turn->written += done;
        turn->lost += size - done;
        if (*turn->left != G_MAXSIZE)
                *turn->left -= size;
        return (ssize_t) size;
}

static PumpResult move_batches(Pump *pump, FileTurn *turn) {
        PumpResult result = PUMP_MORE;

        for (int i = 0; i < BATCHES_MAX && result == PUMP_MORE && *turn->left > 0; i++)
                result = pump_move(pump, turn->pipe, true, write_file, turn);
        return result;
}

static void *run_turn(void *data) {
        FileTurn *turn = data;
        g_auto(Pump) pump = PUMP_NULL;
        _cleanup_close_ int own = open_non_blocking(turn->file);

        turn->sink = own >= 0 ? own : turn->file;
        turn->result = pump_open(&pump, NULL) ? move_batches(&pump, turn) : PUMP_FAILED;
        turn->errnum = errno;
        while (write(turn->done, &turn, sizeof turn) < 0 && errno == EINTR)
                ;
        return NULL;
}

bool file_writer_start(FileWriter *writer, FileTurn *turn, GError **error) {
        pthread_attr_t attributes;
        pthread_t thread;
        int r;

        turn->done = writer->done_write;
        turn->written = 0;
        turn->lost_errnum = 0;
        turn->again = false;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK_SIZE);
        r = pthread_create(&thread, &attributes, run_turn, turn);
        pthread_attr_destroy(&attributes);
        if (r != 0)
                return error_set_errno(error, r, "Cannot start a thread");
        turn->running = true;
        return true;
}

FileTurn *file_writer_next(FileWriter *writer) {
        FileTurn *turn;

        if (read(writer->done_read, &turn, sizeof turn) != sizeof turn)
                return NULL;
        turn->running = false;
        return turn;
}
