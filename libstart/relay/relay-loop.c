/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/relay/journal.h"
#include "libstart/relay/notify-loop.h"
#include "libstart/relay/notify-source.h"
#include "libstart/relay/pipe-workers.h"
#include "libstart/relay/relay-loop.h"
#include "libstart/relay/source.h"

#define EVENTS_MAX 64
#define REGISTRATION_MAX 4096

/* How long to wait before asking again where the journal does not take a connection: it is being
 * restarted. */
#define RETRY_USEC (100 * G_TIME_SPAN_MILLISECOND)

/* How long what a payload has left waits for room in a file, once the payload has ended: else a service that ends again
 * and again, while nobody reads its FIFO, would leave something behind each time. */
#define LEFT_USEC G_TIME_SPAN_SECOND

/* A pipe or a file that took a worker so long is slow for some turns. */
#define SLOW_USEC (10 * G_TIME_SPAN_MILLISECOND)
#define SLOW_TURNS 100

/* When it took so long, it is said. */
#define HELD_USEC (2 * G_TIME_SPAN_SECOND)

/* See look_again(): some at once, the others in this distance. */
#define RECHECKS_AT_ONCE 3
#define RECHECKS_MAX 23

struct Relay {
        int epoll;
        int socket;
        FdStore *store;
        PipeWorkers *workers;
        GHashTable *sources; /* by name */
        GQueue ready;        /* streams that have something to move */
        GQueue retry;        /* streams without a connection to the journal */
        gint64 retry_at;     /* monotonic */
        GQueue recheck;      /* streams of which an event may have been missed; in `ready`, too, when there is one */
        gint64 recheck_at;   /* monotonic */
        GQueue closings;     /* of Closing: to be closed by a worker */
        GPtrArray *ended;    /* sources to be forgotten at the end of this step */
        NotifyLoop *notify;
        bool hurries;   /* see hurry() */
        bool no_worker; /* none could be started */
};

/* Descriptors whose last close may have to wait for the lock of a pipe. */
typedef struct Closing {
        char *unit; /* whose they are; "": nobody knows */
        PipeLane lane;
        int fds[PIPE_JOB_FDS_MAX];
} Closing;

/* What an event is about: a stream's pipe, or with a bit what it writes to, or the end of a source's payload; 0 is the
 * socket. Those with ABOUT_NOTIFY are notify-loop.c's, those with ABOUT_WORKER are pipe-workers.c's. */
#define ABOUT_SINK ((uintptr_t) 1)
#define ABOUT_PAYLOAD ((uintptr_t) 2)
#define ABOUT_MASK ((uintptr_t) 3)

static bool watch(Relay *relay, int operation, int fd, uint32_t events, uintptr_t about, GError **error) {
        struct epoll_event event = { .events = events, .data.u64 = about };

        if (epoll_ctl(relay->epoll, operation, fd, &event) < 0)
                return error_set_errno(error, errno, "Cannot watch a descriptor");
        return true;
}

/* Closing is not enough: there is a copy in the store, which would keep the events coming. */
static void unwatch(Relay *relay, int fd) {
        if (fd >= 0)
                (void) epoll_ctl(relay->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* Not of pipes and files: see close_later(). */
static void unwatch_and_close(Relay *relay, int *fd) {
        unwatch(relay, *fd);
        fd_closep(fd);
        *fd = -1;
}

static PipeLane lane_of(const RelaySource *source) {
        return source->slow > 0 ? PIPE_LANE_SLOW : PIPE_LANE_QUICK;
}

static void close_later(Relay *relay, const RelaySource *source, const int *fds, gsize n_fds) {
        Closing *closing = g_new0(Closing, 1);

        g_assert(n_fds <= PIPE_JOB_FDS_MAX);
        closing->unit = g_strdup(source ? source->record.unit : "");
        closing->lane = source ? lane_of(source) : PIPE_LANE_QUICK;
        for (gsize i = 0; i < PIPE_JOB_FDS_MAX; i++)
                closing->fds[i] = i < n_fds ? fds[i] : -1;
        g_queue_push_tail(&relay->closings, closing);
}

static void closing_free(Closing *closing) {
        g_free(closing->unit);
        g_free(closing);
}

static void end_job(const PipeJob *job, bool done, void *owner, void *data);

Relay *relay_new(int socket, FdStore *store, const char *notify_address, GError **error) {
        g_autoptr(Relay) relay = g_new0(Relay, 1);

        relay->socket = socket;
        relay->store = store;
        relay->sources = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) relay_source_free);
        relay->ended = g_ptr_array_new();
        relay->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (relay->epoll < 0) {
                error_set_errno(error, errno, "Cannot watch descriptors");
                return NULL;
        }
        relay->notify = notify_loop_new(relay->epoll, store, notify_address);
        relay->workers = pipe_workers_new(relay->epoll, end_job, relay, error);
        if (!relay->workers || (socket >= 0 && !watch(relay, EPOLL_CTL_ADD, socket, EPOLLIN, 0, error)))
                return NULL;
        return g_steal_pointer(&relay);
}

void relay_free(Relay *relay) {
        if (!relay)
                return;
        notify_loop_free(relay->notify);
        pipe_workers_free(relay->workers);
        g_hash_table_unref(relay->sources);
        g_queue_clear(&relay->ready);
        g_queue_clear(&relay->retry);
        g_queue_clear(&relay->recheck);
        g_queue_clear_full(&relay->closings, (GDestroyNotify) closing_free);
        g_ptr_array_unref(relay->ended);
        fd_closep(&relay->socket);
        fd_closep(&relay->epoll);
        g_free(relay);
}

static void enqueue(GQueue *queue, RelayStream *stream) {
        stream->again |= stream->busy;
        if (stream->busy || stream->queued || stream->pipe < 0)
                return;
        stream->queued = true;
        g_queue_push_tail(queue, stream);
}

/* The last bytes of a pipe may have come before it was watched, so each begins in the queue. */
static bool serve(Relay *relay, RelaySource *source, GError **error) {
        g_hash_table_insert(relay->sources, source->name, source);
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                RelayStream *stream = &source->streams[i];

                if (stream->pipe >= 0 &&
                    !watch(relay, EPOLL_CTL_ADD, stream->pipe, EPOLLIN | EPOLLET, (uintptr_t) stream, error))
                        return false;
                enqueue(&relay->ready, stream);
        }
        /* Its end is told once, though it stays true and the store has a copy. */
        return source->ended || watch(relay, EPOLL_CTL_ADD, source->payload, EPOLLIN | EPOLLONESHOT,
                                      (uintptr_t) source | ABOUT_PAYLOAD, error);
}

static void close_all(const int *fds, gsize n_fds) {
        for (gsize i = 0; i < n_fds; i++)
                if (fds[i] >= 0)
                        close(fds[i]);
}

static bool is_served(const char *name, void *data) {
        const Relay *relay = data;
        const RelaySource *source = g_hash_table_lookup(relay->sources, name);

        return (source && !relay_source_ended(source)) || notify_loop_serves(relay->notify, name);
}

static void close_dropped(const char *name, const int *fds, gsize n_fds, void *data) {
        Relay *relay = data;

        if (notify_source_is_name(name))
                close_all(fds, n_fds);
        else
                close_later(relay, g_hash_table_lookup(relay->sources, name), fds, n_fds);
}

static void sweep_store(Relay *relay) {
        g_autoptr(GError) error = NULL;

        if (!fd_store_sweep(relay->store, is_served, close_dropped, relay, &error))
                log_warning("%s", error->message);
}

static void collect(const char *name, const int *fds, gsize n_fds, void *data) {
        GHashTable *groups = data;

        if (!g_hash_table_contains(groups, name))
                g_hash_table_insert(groups, g_strdup(name), g_array_new(FALSE, FALSE, sizeof(int)));
        g_array_append_vals(g_hash_table_lookup(groups, name), fds, (guint) n_fds);
}

static bool restore_output(Relay *relay, const char *name, const int *fds, gsize n_fds, GError **error) {
        RelaySource *source = relay_source_restore(name, fds, n_fds, error);

        return source && serve(relay, source, error);
}

static void restore(Relay *relay, const char *name, const GArray *array) {
        const int *fds = (const int *) (void *) array->data;
        g_autoptr(GError) error = NULL;

        if (!(notify_source_is_name(name) ? notify_loop_restore(relay->notify, name, fds, array->len, &error) :
                                            restore_output(relay, name, fds, array->len, &error)))
                log_error("Cannot go on with a container ('%s' in the store): %s", name, error->message);
}

bool relay_restore(Relay *relay, GError **error) {
        g_autoptr(GHashTable)
                groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
        GHashTableIter iter;
        gpointer name, fds;

        if (!fd_store_read(relay->store, collect, groups, error))
                return false;
        g_hash_table_iter_init(&iter, groups);
        while (g_hash_table_iter_next(&iter, &name, &fds))
                restore(relay, name, fds);
        sweep_store(relay);
        return true;
}

/*
 * Registrations
 */

/* Look at the first registration in the queue without taking it out; systemd holds the queue while we are
 * dead. Returns the length of the text, or a negative errno. The descriptors are ours. */
static ssize_t peek_registration(int socket, char *text, size_t size, int *fds, guint *ret_n_fds) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(RELAY_ROLES * sizeof(int))];
        } control;
        struct iovec data = { text, size };
        struct msghdr message = {
                .msg_iov = &data,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof control,
        };
        ssize_t n = recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        *ret_n_fds = 0;
        if (n < 0)
                return -errno;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
                        *ret_n_fds = (guint) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
                        memcpy(fds, CMSG_DATA(c), *ret_n_fds * sizeof(int));
                }
        if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
                close_all(fds, *ret_n_fds);
                return -EMSGSIZE;
        }
        return n;
}

static RelaySource *read_registration(const char *text, int *received, guint n_received, GError **error) {
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

/* Leave it in the store first, so that at no moment it is neither in the queue nor there. One that does not fit would
 * not outlive us, but is served. */
static bool accept_registration(Relay *relay, const char *text, int *fds, guint n_fds, GError **error) {
        g_autoptr(RelaySource) source = read_registration(text, fds, n_fds, error);
        g_autoptr(GError) not_stored = NULL;

        if (!source)
                return false;
        /* Killed between storing it and taking it from the queue, we have it from the store already. */
        if (g_hash_table_contains(relay->sources, source->name))
                return true;
        if (!relay_source_store(source, relay->store, &not_stored))
                log_warning("%s", not_stored->message);
        return serve(relay, g_steal_pointer(&source), error);
}

static bool take_registration(Relay *relay) {
        g_autoptr(GError) error = NULL;
        char text[REGISTRATION_MAX + 1];
        int fds[RELAY_ROLES];
        guint n_fds;
        ssize_t n = peek_registration(relay->socket, text, REGISTRATION_MAX, fds, &n_fds);

        if (n == -EAGAIN || n == -EINTR)
                return false;
        if (n < 0)
                log_error("Cannot read a registration: %s", g_strerror((int) -n));
        else {
                text[n] = '\0';
                if (notify_record_is(text) ? notify_loop_register(relay->notify, text, fds, n_fds, &error) :
                                             accept_registration(relay, text, fds, n_fds, &error))
                        close_all(fds, n_fds);
                else {
                        log_error("Cannot serve a container: %s", error->message);
                        /* Nobody else may have its pipes. */
                        close_all(fds, n_fds);
                        (void) peek_registration(relay->socket, text, REGISTRATION_MAX, fds, &n_fds);
                        close_later(relay, NULL, fds, n_fds);
                }
        }
        return recv(relay->socket, text, sizeof text, MSG_DONTWAIT) >= 0;
}

/*
 * Moving
 */

static void end_stream(Relay *relay, RelayStream *stream) {
        const int fds[] = { stream->pipe, stream->file, stream->sink != stream->file ? stream->sink : -1 };

        unwatch(relay, stream->pipe);
        unwatch(relay, stream->sink);
        unwatch_and_close(relay, &stream->journal);
        close_later(relay, stream->source, fds, G_N_ELEMENTS(fds));
        stream->pipe = stream->file = stream->sink = -1;
        if (stream->rechecked)
                g_queue_remove(&relay->recheck, stream);
        if (relay_source_ended(stream->source))
                g_ptr_array_add(relay->ended, stream->source);
}

static void try_later(Relay *relay, RelayStream *stream) {
        if (g_queue_is_empty(&relay->retry))
                relay->retry_at = g_get_monotonic_time() + RETRY_USEC;
        enqueue(&relay->retry, stream);
}

static void retry_later(Relay *relay, RelayStream *stream, const char *why) {
        if (!stream->complained)
                log_warning("Trying again to write to the journal for %s: %s", stream->source->record.unit, why);
        stream->complained = true;
        unwatch_and_close(relay, &stream->journal);
        try_later(relay, stream);
}

/* The payload has ended, and is missed by nobody: see LEFT_USEC. */
static bool is_full_too_long(RelayStream *stream) {
        gint64 now = g_get_monotonic_time();

        if (stream->full_since == 0)
                stream->full_since = now;
        return now - stream->full_since > LEFT_USEC;
}

static void wait_for_room(Relay *relay, RelayStream *stream) {
        int sink = stream->file >= 0 ? stream->sink : stream->journal;
        uintptr_t about = (uintptr_t) stream | ABOUT_SINK;

        if (stream->file >= 0 && stream->source->ended) {
                if (!is_full_too_long(stream))
                        try_later(relay, stream);
                else {
                        log_warning("Output of %s is lost, its file does not take it: %s",
                                    stream->source->record.unit, g_strerror(EAGAIN));
                        end_stream(relay, stream);
                }
                /* One-shot, so that in normal times journald's reading does not wake us. */
        } else if (!watch(relay, EPOLL_CTL_MOD, sink, EPOLLOUT | EPOLLONESHOT, about, NULL) &&
                   !watch(relay, EPOLL_CTL_ADD, sink, EPOLLOUT | EPOLLONESHOT, about, NULL))
                retry_later(relay, stream, "cannot watch the connection");
}

/* Either there was no need for a connection so far, or journald closed it: it crashed, or could not keep
 * it over a restart. */
static void open_journal(Relay *relay, RelayStream *stream) {
        g_autoptr(GError) error = NULL;

        if (relay_stream_connect(stream, relay->store, &error))
                enqueue(&relay->ready, stream);
        else
                retry_later(relay, stream, error->message);
}

/* A write(2) that is larger than the pipe waits for room, and goes on when we have made some; but until it is done, or
 * waits for room again, the kernel wakes us only if it then finds the pipe empty. With the begin of a line in there it
 * is not, and when it has filled the pipe both of us would wait for each other. So where the pipe may have been full
 * just now, look again, for as long as a writer can need that is runnable. */
static void look_again(Relay *relay, RelayStream *stream) {
        if (stream->moved < JOURNAL_BATCH_MAX || stream->rechecks == RECHECKS_MAX || stream->rechecked)
                return;
        if (stream->rechecks++ < RECHECKS_AT_ONCE) {
                enqueue(&relay->ready, stream);
                return;
        }
        if (g_queue_is_empty(&relay->recheck))
                relay->recheck_at = g_get_monotonic_time() + RETRY_USEC;
        stream->rechecked = true;
        g_queue_push_tail(&relay->recheck, stream);
}

static void go_on(Relay *relay, RelayStream *stream, PumpResult result, int errnum) {
        switch (result) {
        case PUMP_IDLE:
                stream->moved = 0;
                if (stream->source->ended)
                        end_stream(relay, stream);
                break;
        case PUMP_WAITING:
                look_again(relay, stream);
                break;
        case PUMP_MORE:
                enqueue(&relay->ready, stream);
                break;
        case PUMP_BLOCKED:
                wait_for_room(relay, stream);
                break;
        case PUMP_FAILED:
                if (errnum == ENOTCONN && stream->journal < 0)
                        open_journal(relay, stream);
                else if (errnum == ESRCH && relay_source_was_reaped(stream->source))
                        enqueue(&relay->ready, stream);
                else
                        retry_later(relay, stream, g_strerror(errnum));
                break;
        case PUMP_ENDED:
                end_stream(relay, stream);
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

static void end_move(Relay *relay, RelayStream *stream, const PipeMove *move) {
        relay_stream_moved(stream, move);
        if (stream->file >= 0)
                tell_losses(stream, move);
        else if (move->moved > 0)
                stream->complained = false;
        if (move->moved > 0)
                stream->rechecks = stream->full_since = 0;
        if (stream->again && (move->result == PUMP_IDLE || move->result == PUMP_WAITING))
                enqueue(&relay->ready, stream);
        else
                go_on(relay, stream, move->result, move->errnum);
}

static void judge_speed(RelaySource *source, gint64 usec) {
        if (usec > SLOW_USEC)
                source->slow = SLOW_TURNS;
        else if (source->slow > 0)
                source->slow--;
        if (usec > HELD_USEC && !source->was_held) {
                log_warning("%s kept its own output waiting for %d s: its pipe was held, or its file is slow",
                            source->record.unit, (int) (usec / G_USEC_PER_SEC));
                source->was_held = true;
        }
}

/* A PipeJobOver. */
static void end_job(const PipeJob *job, bool done, void *owner, void *data) {
        Relay *relay = data;
        RelayStream *stream = owner;

        if (job->kind == PIPE_JOB_CLOSE) {
                if (done)
                        closing_free(owner);
                else
                        g_queue_push_tail(&relay->closings, owner);
                return;
        }
        stream->busy = false;
        if (done) {
                judge_speed(stream->source, job->usec);
                end_move(relay, stream, &job->move);
        } else
                enqueue(&relay->ready, stream);
}

static void move(Relay *relay, RelayStream *stream) {
        PipeJob job = { .kind = PIPE_JOB_MOVE };
        int r;

        r = relay_stream_prepare(stream, &job.move);
        if (r < 0) {
                retry_later(relay, stream, g_strerror(-r));
                return;
        }
        stream->busy = true;
        stream->again = false;
        pipe_workers_add(relay->workers, lane_of(stream->source), &job, stream->source->record.unit, stream);
}

/* One batch of each, in turn: a container that never stops talking does not silence the others. */
static void move_ready(Relay *relay) {
        for (guint n = g_queue_get_length(&relay->ready); n > 0; n--) {
                RelayStream *stream = g_queue_pop_head(&relay->ready);
                const RelaySource *source = stream->source;

                stream->queued = false;
                if (stream->pipe < 0)
                        continue;
                if (pipe_workers_can_add(relay->workers, lane_of(source), source->record.unit))
                        move(relay, stream);
                else
                        enqueue(&relay->ready, stream);
        }
}

static void close_ready(Relay *relay) {
        for (guint n = g_queue_get_length(&relay->closings); n > 0; n--) {
                Closing *closing = g_queue_pop_head(&relay->closings);
                PipeJob job = { .kind = PIPE_JOB_CLOSE };

                memcpy(job.fds, closing->fds, sizeof job.fds);
                if (pipe_workers_can_add(relay->workers, closing->lane, closing->unit))
                        pipe_workers_add(relay->workers, closing->lane, &job, closing->unit, closing);
                else
                        g_queue_push_tail(&relay->closings, closing);
        }
}

/* What cannot be given to a worker now is given to it after an event of theirs; or, where there is none, later. */
static void employ_workers(Relay *relay) {
        g_autoptr(GError) error = NULL;
        bool failed;

        move_ready(relay);
        close_ready(relay);
        failed = !pipe_workers_start(relay->workers, &error);
        if (failed && !relay->no_worker)
                log_warning("Trying again to move the output of containers: %s", error->message);
        relay->no_worker = failed;
}

static void retry_streams(Relay *relay) {
        if (g_queue_is_empty(&relay->retry) || g_get_monotonic_time() < relay->retry_at)
                return;
        for (guint n = g_queue_get_length(&relay->retry); n > 0; n--)
                g_queue_push_tail(&relay->ready, g_queue_pop_head(&relay->retry));
}

static void recheck_streams(Relay *relay) {
        if (g_queue_is_empty(&relay->recheck) || g_get_monotonic_time() < relay->recheck_at)
                return;
        for (guint n = g_queue_get_length(&relay->recheck); n > 0; n--) {
                RelayStream *stream = g_queue_pop_head(&relay->recheck);

                stream->rechecked = false;
                enqueue(&relay->ready, stream);
        }
}

static void forget_ended(Relay *relay) {
        for (guint i = 0; i < relay->ended->len; i++) {
                RelaySource *source = relay->ended->pdata[i];

                unwatch_and_close(relay, &source->payload);
                g_hash_table_remove(relay->sources, source->name);
        }
        g_ptr_array_set_size(relay->ended, 0);
}

static int wait_time(const Relay *relay, int timeout) {
        if (relay->no_worker || !g_queue_is_empty((GQueue *) &relay->retry) ||
            !g_queue_is_empty((GQueue *) &relay->recheck))
                timeout = RETRY_USEC / G_TIME_SPAN_MILLISECOND;
        return notify_loop_wait_time(relay->notify, pipe_workers_wait_time(relay->workers, timeout));
}

/* All of its processes are gone: what is in the pipes now is all there will be. */
static void handle_end(Relay *relay, RelaySource *source) {
        source->ended = true;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                source->streams[i].hung_up = true;
                enqueue(&relay->ready, &source->streams[i]);
        }
}

static void handle_event(Relay *relay, const struct epoll_event *event) {
        uintptr_t about = (uintptr_t) event->data.u64 & ABOUT_MASK;
        void *what = (void *) (uintptr_t) (event->data.u64 & ~ABOUT_MASK);
        RelayStream *stream = what;

        if (event->data.u64 & ABOUT_NOTIFY)
                notify_loop_event(relay->notify, event);
        else if (about == ABOUT_WORKER)
                pipe_workers_event(relay->workers, event);
        else if (about == ABOUT_PAYLOAD)
                handle_end(relay, what);
        else if (!what) {
                while (take_registration(relay))
                        ;
        } else {
                if (event->events & EPOLLHUP && about != ABOUT_SINK)
                        stream->hung_up = true;
                enqueue(&relay->ready, stream);
        }
}

/* A payload that says READY=1 and ends has both seen in this order only if we get a processor before systemd learns of
 * its end: for some hundred microseconds it has the better chance, on a busy machine none. So while somebody's readiness
 * is awaited we sleep, and wake, with a real-time priority. What we do with it is little: a message of each, and its
 * number in a time is bounded. Lines are moved without it. Where it is not allowed to us we are not as fast. */
static void hurry(Relay *relay, bool wanted) {
        const struct sched_param priority = { .sched_priority = wanted ? 1 : 0 };

        if (relay->hurries == wanted)
                return;
        relay->hurries = wanted;
        (void) sched_setscheduler(0, (wanted ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &priority);
}

bool relay_step(Relay *relay, int timeout, GError **error) {
        struct epoll_event events[EVENTS_MAX];
        bool sweep;
        int n;

        employ_workers(relay);
        hurry(relay, notify_loop_is_urgent(relay->notify));
        n = epoll_wait(relay->epoll, events, EVENTS_MAX, wait_time(relay, timeout));

        if (n < 0 && errno != EINTR)
                return error_set_errno(error, errno, "Cannot wait for events");
        for (int i = 0; i < n; i++)
                handle_event(relay, &events[i]);
        sweep = notify_loop_step(relay->notify);
        retry_streams(relay);
        recheck_streams(relay);
        pipe_workers_check(relay->workers);
        if (sweep || relay->ended->len > 0 || !g_queue_is_empty(&relay->ready))
                hurry(relay, false);
        if (sweep || relay->ended->len > 0)
                sweep_store(relay);
        forget_ended(relay);
        return true;
}

guint relay_n_sources(const Relay *relay) {
        return g_hash_table_size(relay->sources) + notify_loop_n_sources(relay->notify);
}
