/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/relay/journal.h"
#include "libstart/relay/output-loop.h"
#include "libstart/relay/pipe-workers.h"
#include "libstart/relay/source.h"
#include "libstart/relay/watch.h"

/* How long to wait before asking again where the journal does not take a connection: it is being
 * restarted. */
#define RETRY_USEC (100 * G_TIME_SPAN_MILLISECOND)

/* How long what a payload has left waits for room in a file, once the payload has ended: else a service that ends
 * again and again, while nobody reads its FIFO, would leave something behind each time. */
#define LEFT_USEC G_TIME_SPAN_SECOND

/* Whose pipe or file takes a worker so long is in the slow lane for some time. */
#define SLOW_USEC (10 * G_TIME_SPAN_MILLISECOND)
#define SLOW_LANE_USEC G_TIME_SPAN_MINUTE

/* When it takes so long, it is said. */
#define HELD_USEC (2 * G_TIME_SPAN_SECOND)

/* See look_again(): some at once, the next ones in the distance of RETRY_USEC, then each after twice the time of the
 * one before, up to a minute. */
#define RECHECKS_AT_ONCE 3U
#define RECHECKS_SOON 23U
#define RECHECKS_MAX 32U

struct OutputLoop {
        int epoll;
        FdStore *store;
        PipeWorkers *workers;
        GHashTable *sources; /* by name */
        GQueue ready;        /* streams that have something to move */
        GQueue retry;        /* streams without a connection to the journal, or whose file is full */
        gint64 retry_at;     /* monotonic */
        GQueue recheck;      /* streams of which an event may have been missed; in `ready`, too, when there is one */
        gint64 recheck_at;   /* monotonic; when the first of them is due: then all are looked at */
        GQueue closings;     /* of Closing */
        GPtrArray *ended;    /* sources to be forgotten */
        bool no_worker;      /* none could be started */
};

/* Descriptors whose last close may have to wait for the lock of a pipe. */
typedef struct Closing {
        char *unit; /* whose they are; "": nobody knows */
        PipeLane lane;
        int fds[PIPE_JOB_FDS_MAX];
} Closing;

/* What an event is about: a stream's pipe, or with a bit what it writes to, or the end of a source's payload. Those
 * with ABOUT_WORKER are pipe-workers.c's. */
#define ABOUT_SINK ((uintptr_t) 1)
#define ABOUT_PAYLOAD ((uintptr_t) 2)
#define ABOUT_MASK ((uintptr_t) 3)

/* Not of pipes and files: see close_later(). */
static void unwatch_and_close(OutputLoop *loop, int *fd) {
        unwatch(loop->epoll, *fd);
        fd_close(fd);
}

static PipeLane lane_of(const RelaySource *source) {
        return source->slow_until > g_get_monotonic_time() ? PIPE_LANE_SLOW : PIPE_LANE_QUICK;
}

static void close_later(OutputLoop *loop, const RelaySource *source, const int *fds, gsize n_fds) {
        Closing *closing = g_new0(Closing, 1);

        g_assert(n_fds <= PIPE_JOB_FDS_MAX);
        closing->unit = g_strdup(source ? source->record.unit : "");
        closing->lane = source ? lane_of(source) : PIPE_LANE_QUICK;
        for (gsize i = 0; i < PIPE_JOB_FDS_MAX; i++)
                closing->fds[i] = i < n_fds ? fds[i] : -1;
        g_queue_push_tail(&loop->closings, closing);
}

static void closing_free(Closing *closing) {
        g_free(closing->unit);
        g_free(closing);
}

static void end_job(const PipeJob *job, bool done, void *owner, void *data);

OutputLoop *output_loop_new(int epoll, FdStore *store, GError **error) {
        g_autoptr(OutputLoop) loop = g_new0(OutputLoop, 1);

        loop->epoll = epoll;
        loop->store = store;
        loop->sources = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) relay_source_free);
        loop->ended = g_ptr_array_new();
        loop->workers = pipe_workers_new(epoll, end_job, loop, error);
        return loop->workers ? g_steal_pointer(&loop) : NULL;
}

void output_loop_free(OutputLoop *loop) {
        if (!loop)
                return;
        pipe_workers_free(loop->workers);
        g_hash_table_unref(loop->sources);
        g_queue_clear(&loop->ready);
        g_queue_clear(&loop->retry);
        g_queue_clear(&loop->recheck);
        g_queue_clear_full(&loop->closings, (GDestroyNotify) closing_free);
        g_ptr_array_unref(loop->ended);
        g_free(loop);
}

/*
 * Sources
 */

static void enqueue(GQueue *queue, RelayStream *stream) {
        stream->again |= stream->busy;
        if (stream->busy || stream->queued || stream->pipe < 0)
                return;
        stream->queued = true;
        g_queue_push_tail(queue, stream);
}

/* The last bytes of a pipe may have come before it was watched, so each begins in the queue. */
static bool watch_all(OutputLoop *loop, RelaySource *source, GError **error) {
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                RelayStream *stream = &source->streams[i];

                if (stream->pipe >= 0 &&
                    !watch(loop->epoll, EPOLL_CTL_ADD, stream->pipe, EPOLLIN | EPOLLET, (uintptr_t) stream, error))
                        return false;
                enqueue(&loop->ready, stream);
        }
        /* Its end is told once, though it stays true and the store has a copy. */
        return source->ended || watch(loop->epoll, EPOLL_CTL_ADD, source->payload, EPOLLIN | EPOLLONESHOT,
                                      (uintptr_t) source | ABOUT_PAYLOAD, error);
}

/* Takes it over. Where it fails, nothing of it is left, so that it can be tried again. */
static bool serve(OutputLoop *loop, RelaySource *source, GError **error) {
        g_hash_table_insert(loop->sources, source->name, source);
        if (watch_all(loop, source, error))
                return true;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                unwatch(loop->epoll, source->streams[i].pipe);
                g_queue_remove(&loop->ready, &source->streams[i]);
        }
        g_hash_table_remove(loop->sources, source->name);
        return false;
}

static RelaySource *read_registration(const char *text, int *received, gsize n_received, GError **error) {
        g_auto(RelayRecord) record = { 0 };
        int fds[RELAY_ROLES] = { -1, -1, -1, -1 };
        guint used = 0;

        if (!relay_record_parse(text, &record, error))
                return NULL;
        for (guint role = 0; role < RELAY_ROLES; role++)
                if (record.roles & (1U << role) && used < n_received)
                        fds[role] = fd_steal(&received[used++]);
        return relay_source_new(&record, fds, error);
}

/* It is put into the store before it is taken out of the queue, so that a kill at any moment finds it in one of them.
 * One that does not fit into the store is served, but does not outlive us until there is room for it. */
bool output_loop_register(OutputLoop *loop, const char *text, int *fds, gsize n_fds, GError **error) {
        g_autoptr(RelaySource) source = read_registration(text, fds, n_fds, error);
        g_autoptr(GError) not_stored = NULL;
        RelaySource *served = source;

        if (!source)
                return false;
        /* Killed between storing it and taking it from the queue, we have it from the store already. */
        if (g_hash_table_contains(loop->sources, source->name))
                return true;
        /* Stored last, as what fails is tried again. */
        if (!serve(loop, g_steal_pointer(&source), error))
                return false;
        if (!relay_source_store(served, loop->store, &not_stored))
                log_warning("%s", not_stored->message);
        return true;
}

bool output_loop_restore(OutputLoop *loop, const char *name, const int *fds, gsize n_fds, GError **error) {
        RelaySource *source = relay_source_restore(name, fds, n_fds, error);

        return source && serve(loop, source, error);
}

bool output_loop_serves(const OutputLoop *loop, const char *name) {
        const RelaySource *source = g_hash_table_lookup(loop->sources, name);

        return source && !relay_source_ended(source);
}

guint output_loop_n_sources(const OutputLoop *loop) {
        return g_hash_table_size(loop->sources);
}

void output_loop_close(OutputLoop *loop, const char *name, const int *fds, gsize n_fds) {
        close_later(loop, name ? g_hash_table_lookup(loop->sources, name) : NULL, fds, n_fds);
}

/*
 * Moving
 */

static void end_stream(OutputLoop *loop, RelayStream *stream) {
        const int fds[] = { stream->pipe, stream->file, stream->sink != stream->file ? stream->sink : -1 };

        unwatch(loop->epoll, stream->pipe);
        unwatch(loop->epoll, stream->sink);
        unwatch_and_close(loop, &stream->journal);
        close_later(loop, stream->source, fds, G_N_ELEMENTS(fds));
        stream->pipe = stream->file = stream->sink = -1;
        if (stream->rechecked)
                g_queue_remove(&loop->recheck, stream);
        if (relay_source_ended(stream->source))
                g_ptr_array_add(loop->ended, stream->source);
}

static void try_later(OutputLoop *loop, RelayStream *stream) {
        if (g_queue_is_empty(&loop->retry))
                loop->retry_at = g_get_monotonic_time() + RETRY_USEC;
        enqueue(&loop->retry, stream);
}

static void retry_later(OutputLoop *loop, RelayStream *stream, const char *why) {
        if (!stream->complained)
                log_warning("Trying again to pass on what %s writes: %s", stream->source->record.unit, why);
        stream->complained = true;
        unwatch_and_close(loop, &stream->journal);
        try_later(loop, stream);
}

static bool is_full_too_long(RelayStream *stream) {
        gint64 now = g_get_monotonic_time();

        if (stream->full_since == 0)
                stream->full_since = now;
        return now - stream->full_since > LEFT_USEC;
}

/* What a payload that has ended has left for its file: that is missed by nobody, and does not wait for long. */
static void wait_for_room_a_while(OutputLoop *loop, RelayStream *stream) {
        if (!is_full_too_long(stream)) {
                try_later(loop, stream);
                return;
        }
        log_warning("Output of %s is lost, its file does not take it: %s", stream->source->record.unit,
                    g_strerror(EAGAIN));
        end_stream(loop, stream);
}

static void wait_for_room(OutputLoop *loop, RelayStream *stream) {
        int sink = stream->file >= 0 ? stream->sink : stream->journal;
        uintptr_t about = (uintptr_t) stream | ABOUT_SINK;

        /* One-shot, so that in normal times journald's reading does not wake us. */
        if (!watch(loop->epoll, EPOLL_CTL_MOD, sink, EPOLLOUT | EPOLLONESHOT, about, NULL) &&
            !watch(loop->epoll, EPOLL_CTL_ADD, sink, EPOLLOUT | EPOLLONESHOT, about, NULL))
                retry_later(loop, stream, "cannot watch the connection");
}

/* Either there was no need for a connection so far, or journald closed it: it crashed, or could not keep
 * it over a restart. */
static void open_journal(OutputLoop *loop, RelayStream *stream) {
        g_autoptr(GError) error = NULL;

        if (relay_stream_connect(stream, loop->store, &error))
                enqueue(&loop->ready, stream);
        else
                retry_later(loop, stream, error->message);
}

/* A write(2) that is larger than the pipe waits until we have made room, and goes on. The kernel tells us of what it
 * writes then only if the pipe was empty. The begin of a line that we have left there keeps it from being empty, and
 * when the writer has filled the pipe again, both of us would wait for each other. So where the pipe may have been
 * full just now, look again: soon, as the writer may only wait for a processor, and then now and then, as it may be
 * frozen (systemctl freeze), for as long as anybody likes. */
static void look_again(OutputLoop *loop, RelayStream *stream) {
        gint64 at = g_get_monotonic_time();

        if (stream->moved < JOURNAL_BATCH_MAX)
                return;
        stream->rechecks = MIN(stream->rechecks + 1, RECHECKS_MAX);
        if (stream->rechecks <= RECHECKS_AT_ONCE) {
                enqueue(&loop->ready, stream);
                return;
        }
        at += (gint64) RETRY_USEC << (MAX(stream->rechecks, RECHECKS_SOON) - RECHECKS_SOON);
        loop->recheck_at = g_queue_is_empty(&loop->recheck) ? at : MIN(at, loop->recheck_at);
        if (stream->rechecked)
                return;
        stream->rechecked = true;
        g_queue_push_tail(&loop->recheck, stream);
}

/* The payload has ended, and something is left in its pipe that was not seen. Either the look failed for a moment, or
 * somebody else has read it, or nobody can. */
static void end_unless_left(OutputLoop *loop, RelayStream *stream) {
        if (stream->left > 0 && stream->rechecks++ < RECHECKS_AT_ONCE)
                enqueue(&loop->ready, stream);
        else
                end_stream(loop, stream);
}

static void go_on(OutputLoop *loop, RelayStream *stream, const PipeMove *move) {
        switch (move->result) {
        case PUMP_IDLE:
                if (stream->source->ended)
                        end_unless_left(loop, stream);
                break;
        case PUMP_WAITING:
                look_again(loop, stream);
                break;
        case PUMP_MORE:
                enqueue(&loop->ready, stream);
                break;
        case PUMP_BLOCKED:
                if (stream->file >= 0 && stream->source->ended)
                        wait_for_room_a_while(loop, stream);
                else
                        wait_for_room(loop, stream);
                break;
        case PUMP_FAILED:
                if (move->errnum == ENOTCONN && stream->journal < 0)
                        open_journal(loop, stream);
                else if (move->errnum == ESRCH && move->payload >= 0) /* it has been reaped: next time as another */
                        enqueue(&loop->ready, stream);
                else
                        retry_later(loop, stream, g_strerror(move->errnum));
                break;
        case PUMP_ENDED:
                end_stream(loop, stream);
                break;
        }
}

/* Once when it begins, and once when it is over. */
static void tell_losses(RelayStream *stream, const PipeMove *move) {
        const char *unit = stream->source->record.unit;

        if (move->lost_errnum != 0 && !stream->complained)
                log_warning("Output of %s is lost, its file does not take it: %s", unit,
                            g_strerror(move->lost_errnum));
        else if (move->lost_errnum == 0 && move->moved > 0 && stream->complained)
                log_warning("The file takes the output of %s again; %" G_GSIZE_FORMAT " bytes are lost", unit,
                            stream->lost);
        if (move->lost_errnum != 0 || move->moved > 0)
                stream->complained = move->lost_errnum != 0;
}

static void end_move(OutputLoop *loop, RelayStream *stream, const PipeMove *move) {
        relay_stream_moved(stream, move);
        if (stream->file >= 0)
                tell_losses(stream, move);
        else if (move->moved > 0)
                stream->complained = false;
        if (move->moved > 0)
                stream->rechecks = stream->full_since = 0;
        if (move->result == PUMP_IDLE)
                stream->moved = 0;
        if (stream->again && (move->result == PUMP_IDLE || move->result == PUMP_WAITING))
                enqueue(&loop->ready, stream);
        else
                go_on(loop, stream, move);
}

static void judge_speed(RelaySource *source, gint64 usec) {
        if (usec > SLOW_USEC)
                source->slow_until = g_get_monotonic_time() + SLOW_LANE_USEC;
        if (usec > HELD_USEC && !source->was_held) {
                log_warning("%s kept its own output waiting for %d s: its pipe was held, or what it goes to is slow",
                            source->record.unit, (int) (usec / G_USEC_PER_SEC));
                source->was_held = true;
        }
}

/* A PipeJobOver. */
static void end_job(const PipeJob *job, bool done, void *owner, void *data) {
        OutputLoop *loop = data;
        RelayStream *stream = owner;

        if (job->kind == PIPE_JOB_CLOSE) {
                if (done)
                        closing_free(owner);
                else
                        g_queue_push_tail(&loop->closings, owner);
                return;
        }
        stream->busy = false;
        if (done) {
                judge_speed(stream->source, job->usec);
                end_move(loop, stream, &job->move);
        } else
                enqueue(&loop->ready, stream);
}

static void move(OutputLoop *loop, RelayStream *stream, PipeLane lane) {
        PipeJob job = { .kind = PIPE_JOB_MOVE };
        int r;

        r = relay_stream_prepare(stream, &job.move);
        if (r < 0) {
                retry_later(loop, stream, g_strerror(-r));
                return;
        }
        stream->busy = true;
        stream->again = false;
        pipe_workers_add(loop->workers, lane, &job, stream->source->record.unit, stream);
}

/* One batch of each, in turn: a container that never stops talking does not silence the others. */
static void move_ready(OutputLoop *loop) {
        for (guint n = g_queue_get_length(&loop->ready); n > 0; n--) {
                RelayStream *stream = g_queue_pop_head(&loop->ready);
                PipeLane lane = lane_of(stream->source);

                stream->queued = false;
                if (stream->pipe < 0)
                        continue;
                if (pipe_workers_can_add(loop->workers, lane, stream->source->record.unit))
                        move(loop, stream, lane);
                else
                        enqueue(&loop->ready, stream);
        }
}

static void close_ready(OutputLoop *loop) {
        for (guint n = g_queue_get_length(&loop->closings); n > 0; n--) {
                Closing *closing = g_queue_pop_head(&loop->closings);
                PipeJob job = { .kind = PIPE_JOB_CLOSE };

                memcpy(job.fds, closing->fds, sizeof job.fds);
                if (pipe_workers_can_add(loop->workers, closing->lane, closing->unit))
                        pipe_workers_add(loop->workers, closing->lane, &job, closing->unit, closing);
                else
                        g_queue_push_tail(&loop->closings, closing);
        }
}

void output_loop_move(OutputLoop *loop) {
        g_autoptr(GError) error = NULL;
        bool failed;

        move_ready(loop);
        close_ready(loop);
        failed = !pipe_workers_start(loop->workers, &error);
        if (failed && !loop->no_worker)
                log_warning("Trying again to move the output of containers: %s", error->message);
        loop->no_worker = failed;
}

static void retry_streams(OutputLoop *loop) {
        if (g_queue_is_empty(&loop->retry) || g_get_monotonic_time() < loop->retry_at)
                return;
        for (guint n = g_queue_get_length(&loop->retry); n > 0; n--)
                g_queue_push_tail(&loop->ready, g_queue_pop_head(&loop->retry));
}

static void recheck_streams(OutputLoop *loop) {
        if (g_queue_is_empty(&loop->recheck) || g_get_monotonic_time() < loop->recheck_at)
                return;
        for (guint n = g_queue_get_length(&loop->recheck); n > 0; n--) {
                RelayStream *stream = g_queue_pop_head(&loop->recheck);

                stream->rechecked = false;
                enqueue(&loop->ready, stream);
        }
}

bool output_loop_step(OutputLoop *loop) {
        retry_streams(loop);
        recheck_streams(loop);
        pipe_workers_check(loop->workers);
        return loop->ended->len > 0;
}

bool output_loop_can_go_on(const OutputLoop *loop, GError **error) {
        return pipe_workers_can_go_on(loop->workers, error);
}

void output_loop_forget(OutputLoop *loop) {
        for (guint i = 0; i < loop->ended->len; i++) {
                RelaySource *source = loop->ended->pdata[i];

                unwatch_and_close(loop, &source->payload);
                g_hash_table_remove(loop->sources, source->name);
        }
        g_ptr_array_set_size(loop->ended, 0);
}

/*
 * Events
 */

/* All of its processes are gone: what is in the pipes now is all there will be. */
static void handle_end(OutputLoop *loop, RelaySource *source) {
        source->ended = true;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                source->streams[i].hung_up = true;
                source->streams[i].rechecks = 0;
                enqueue(&loop->ready, &source->streams[i]);
        }
}

void output_loop_event(OutputLoop *loop, const struct epoll_event *event) {
        uintptr_t about = (uintptr_t) event->data.u64 & ABOUT_MASK;
        void *what = (void *) (uintptr_t) (event->data.u64 & ~ABOUT_MASK);
        RelayStream *stream = what;

        if (about == ABOUT_WORKER)
                pipe_workers_event(loop->workers, event);
        else if (about == ABOUT_PAYLOAD)
                handle_end(loop, what);
        else {
                if (event->events & EPOLLHUP && about != ABOUT_SINK)
                        stream->hung_up = true;
                enqueue(&loop->ready, stream);
        }
}

bool output_loop_has_work(const OutputLoop *loop) {
        return !g_queue_is_empty((GQueue *) &loop->ready) || !g_queue_is_empty((GQueue *) &loop->closings);
}

int output_loop_wait_time(const OutputLoop *loop, int timeout) {
        if (loop->no_worker || !g_queue_is_empty((GQueue *) &loop->retry)) {
                timeout = RETRY_USEC / G_TIME_SPAN_MILLISECOND;
        } else if (!g_queue_is_empty((GQueue *) &loop->recheck)) {
                gint64 left = MAX(loop->recheck_at - g_get_monotonic_time(), 0);
                int msec = (int) (left / G_TIME_SPAN_MILLISECOND) + 1;

                timeout = timeout < 0 ? msec : MIN(timeout, msec);
        }
        return pipe_workers_wait_time(loop->workers, timeout);
}
