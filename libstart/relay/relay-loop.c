/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
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
#include "libstart/relay/pump.h"
#include "libstart/relay/relay-loop.h"
#include "libstart/relay/source.h"

#define EVENTS_MAX 64
#define REGISTRATION_MAX 4096

/* How long to wait before asking again where the journal does not take a connection: it is being
 * restarted. */
#define RETRY_USEC (100 * G_TIME_SPAN_MILLISECOND)

/* See look_again(): some at once, the others in this distance. */
#define RECHECKS_AT_ONCE 3
#define RECHECKS_MAX 23

struct Relay {
        int epoll;
        int socket;
        FdStore *store;
        Pump pump;
        FileWriter files;    /* opened with the first file */
        GHashTable *sources; /* by name */
        GQueue ready;        /* streams that have something to move */
        GQueue retry;        /* streams without a connection to the journal */
        gint64 retry_at;     /* monotonic */
        GQueue recheck;      /* streams of which an event may have been missed; in `ready`, too, when there is one */
        gint64 recheck_at;   /* monotonic */
        GPtrArray *ended;    /* sources to be forgotten at the end of this step */
        NotifyLoop *notify;
        bool hurries; /* see hurry() */
};

/* What an event is about: a stream's pipe, or with a bit its connection to the journal, or the end of a source's payload;
 * alone the last bit is about turns of files that are over, and 0 is the socket. Those with ABOUT_NOTIFY are notify-loop.c's. */
#define ABOUT_JOURNAL ((uintptr_t) 1)
#define ABOUT_PAYLOAD ((uintptr_t) 2)
#define ABOUT_FILES ((uintptr_t) 3)
#define ABOUT_MASK ((uintptr_t) 3)

static bool watch(Relay *relay, int operation, int fd, uint32_t events, uintptr_t about, GError **error) {
        struct epoll_event event = { .events = events, .data.u64 = about };

        if (epoll_ctl(relay->epoll, operation, fd, &event) < 0)
                return error_set_errno(error, errno, "Cannot watch a descriptor");
        return true;
}

/* Closing is not enough: there is a copy in the store, which would keep the events coming. */
static void unwatch_and_close(Relay *relay, int *fd) {
        if (*fd < 0)
                return;
        (void) epoll_ctl(relay->epoll, EPOLL_CTL_DEL, *fd, NULL);
        close(fd_steal(fd));
}

Relay *relay_new(int socket, FdStore *store, const char *notify_address, GError **error) {
        g_autoptr(Relay) relay = g_new0(Relay, 1);

        relay->socket = socket;
        relay->store = store;
        relay->pump = (Pump) PUMP_NULL;
        relay->files = (FileWriter) FILE_WRITER_NULL;
        relay->sources = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) relay_source_free);
        relay->ended = g_ptr_array_new();
        relay->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (relay->epoll < 0) {
                error_set_errno(error, errno, "Cannot watch descriptors");
                return NULL;
        }
        relay->notify = notify_loop_new(relay->epoll, store, notify_address);
        if (!pump_open(&relay->pump, error) ||
            (socket >= 0 && !watch(relay, EPOLL_CTL_ADD, socket, EPOLLIN, 0, error)))
                return NULL;
        return g_steal_pointer(&relay);
}

void relay_free(Relay *relay) {
        if (!relay)
                return;
        notify_loop_free(relay->notify);
        g_hash_table_unref(relay->sources);
        g_queue_clear(&relay->ready);
        g_queue_clear(&relay->retry);
        g_queue_clear(&relay->recheck);
        g_ptr_array_unref(relay->ended);
        pump_clear(&relay->pump);
        file_writer_clear(&relay->files);
        fd_closep(&relay->socket);
        fd_closep(&relay->epoll);
        g_free(relay);
}

static void enqueue(GQueue *queue, RelayStream *stream) {
        if (stream->queued || stream->pipe < 0)
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

static bool is_served(const char *name, void *data) {
        const Relay *relay = data;

        return g_hash_table_contains(relay->sources, name) || notify_loop_serves(relay->notify, name);
}

static void sweep_store(Relay *relay) {
        g_autoptr(GError) error = NULL;

        if (!fd_store_sweep(relay->store, is_served, relay, &error))
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

static void close_all(int *fds, guint n_fds) {
        for (guint i = 0; i < n_fds; i++)
                if (fds[i] >= 0)
                        close(fds[i]);
}

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
                if (!(notify_record_is(text) ? notify_loop_register(relay->notify, text, fds, n_fds, &error) :
                                               accept_registration(relay, text, fds, n_fds, &error)))
                        log_error("Cannot serve a container: %s", error->message);
                close_all(fds, n_fds);
        }
        return recv(relay->socket, text, sizeof text, MSG_DONTWAIT) >= 0;
}

/*
 * Moving
 */

static void end_stream(Relay *relay, RelayStream *stream) {
        unwatch_and_close(relay, &stream->pipe);
        unwatch_and_close(relay, &stream->journal);
        fd_closep(&stream->file);
        stream->file = -1;
        if (stream->rechecked)
                g_queue_remove(&relay->recheck, stream);
        if (relay_source_ended(stream->source))
                g_ptr_array_add(relay->ended, stream->source);
}

static void retry_later(Relay *relay, RelayStream *stream, const char *why) {
        if (!stream->complained)
                log_warning("Trying again to write to the journal for %s: %s", stream->source->record.unit, why);
        stream->complained = true;
        unwatch_and_close(relay, &stream->journal);
        if (g_queue_is_empty(&relay->retry))
                relay->retry_at = g_get_monotonic_time() + RETRY_USEC;
        enqueue(&relay->retry, stream);
}

static void wait_for_room(Relay *relay, RelayStream *stream) {
        uintptr_t about = (uintptr_t) stream | ABOUT_JOURNAL;

        /* One-shot, so that in normal times journald's reading does not wake us. */
        if (!watch(relay, EPOLL_CTL_MOD, stream->journal, EPOLLOUT | EPOLLONESHOT, about, NULL) &&
            !watch(relay, EPOLL_CTL_ADD, stream->journal, EPOLLOUT | EPOLLONESHOT, about, NULL))
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
                sched_yield();
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
                if (errnum == ENOTCONN)
                        open_journal(relay, stream);
                else
                        retry_later(relay, stream, g_strerror(errnum));
                break;
        case PUMP_ENDED:
                end_stream(relay, stream);
                break;
        }
}

static bool start_turn(Relay *relay, RelayStream *stream, GError **error) {
        FileTurn *turn = &stream->turn;

        if (relay->files.done_read < 0 &&
            (!file_writer_open(&relay->files, error) ||
             !watch(relay, EPOLL_CTL_ADD, relay->files.done_read, EPOLLIN, ABOUT_FILES, error)))
                return false;
        g_atomic_int_set(&turn->ended, stream->source->ended);
        turn->pipe = stream->pipe;
        turn->file = stream->file;
        turn->left = &stream->left;
        turn->owner = stream;
        return file_writer_start(&relay->files, turn, error);
}

static void move_to_file(Relay *relay, RelayStream *stream) {
        g_autoptr(GError) error = NULL;

        if (!start_turn(relay, stream, &error))
                retry_later(relay, stream, error->message);
}

/* Once when it begins, and once when it is over. */
static void tell_losses(RelayStream *stream) {
        const FileTurn *turn = &stream->turn;
        const char *unit = stream->source->record.unit;

        if (turn->lost_errnum != 0 && !stream->complained)
                log_warning("Output of %s is lost, its file does not take it: %s", unit,
                            g_strerror(turn->lost_errnum));
        else if (turn->lost_errnum == 0 && turn->written > 0 && stream->complained)
                log_warning("The file takes the output of %s again; %" G_GSIZE_FORMAT " bytes are lost", unit,
                            turn->lost);
        if (turn->lost_errnum != 0 || turn->written > 0)
                stream->complained = turn->lost_errnum != 0;
}

static void end_turns(Relay *relay) {
        for (FileTurn *turn; (turn = file_writer_next(&relay->files));) {
                RelayStream *stream = turn->owner;

                tell_losses(stream);
                if (turn->result == PUMP_IDLE && turn->again)
                        enqueue(&relay->ready, stream);
                else
                        go_on(relay, stream, turn->result, turn->errnum);
        }
}

static void move(Relay *relay, RelayStream *stream) {
        PumpResult result;

        if (stream->pipe < 0) /* its turn has ended it meanwhile */
                return;
        if (stream->turn.running) {
                stream->turn.again = true;
                return;
        }
        if (!relay_stream_may_move(stream)) {
                end_stream(relay, stream);
                return;
        }
        if (stream->file >= 0) {
                move_to_file(relay, stream);
                return;
        }
        result = pump_move(&relay->pump, stream->pipe, stream->hung_up, relay_stream_send, stream);
        if (result == PUMP_MORE) {
                stream->complained = false;
                stream->rechecks = 0;
        }
        go_on(relay, stream, result, errno);
}

/* One batch of each, in turn: a container that never stops talking does not silence the others. */
static void move_ready(Relay *relay) {
        for (guint n = g_queue_get_length(&relay->ready); n > 0; n--) {
                RelayStream *stream = g_queue_pop_head(&relay->ready);

                stream->queued = false;
                move(relay, stream);
        }
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
        if (relay->ended->len == 0)
                return;
        for (guint i = 0; i < relay->ended->len; i++) {
                RelaySource *source = relay->ended->pdata[i];

                unwatch_and_close(relay, &source->payload);
                g_hash_table_remove(relay->sources, source->name);
        }
        g_ptr_array_set_size(relay->ended, 0);
        sweep_store(relay);
}

static int wait_time(const Relay *relay, int timeout) {
        if (!g_queue_is_empty((GQueue *) &relay->ready))
                return 0;
        if (g_queue_is_empty((GQueue *) &relay->retry) && g_queue_is_empty((GQueue *) &relay->recheck))
                return timeout;
        return RETRY_USEC / G_TIME_SPAN_MILLISECOND;
}

/* All of its processes are gone: what is in the pipes now is all there will be. */
static void handle_end(Relay *relay, RelaySource *source) {
        source->ended = true;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                source->streams[i].hung_up = true;
                g_atomic_int_set(&source->streams[i].turn.ended, true);
                enqueue(&relay->ready, &source->streams[i]);
        }
}

static void handle_event(Relay *relay, const struct epoll_event *event) {
        uintptr_t about = (uintptr_t) event->data.u64 & ABOUT_MASK;
        void *what = (void *) (uintptr_t) (event->data.u64 & ~ABOUT_MASK);
        RelayStream *stream = what;

        if (event->data.u64 & ABOUT_NOTIFY)
                notify_loop_event(relay->notify, event);
        else if (about == ABOUT_FILES)
                end_turns(relay);
        else if (about == ABOUT_PAYLOAD)
                handle_end(relay, what);
        else if (!what) {
                while (take_registration(relay))
                        ;
        } else {
                if (event->events & EPOLLHUP && about != ABOUT_JOURNAL)
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

        hurry(relay, notify_loop_is_urgent(relay->notify));
        n = epoll_wait(relay->epoll, events, EVENTS_MAX,
                       notify_loop_wait_time(relay->notify, wait_time(relay, timeout)));

        if (n < 0 && errno != EINTR)
                return error_set_errno(error, errno, "Cannot wait for events");
        for (int i = 0; i < n; i++)
                handle_event(relay, &events[i]);
        sweep = notify_loop_step(relay->notify);
        retry_streams(relay);
        recheck_streams(relay);
        if (sweep || !g_queue_is_empty(&relay->ready))
                hurry(relay, false);
        if (sweep)
                sweep_store(relay);
        move_ready(relay);
        forget_ended(relay);
        return true;
}

guint relay_n_sources(const Relay *relay) {
        return g_hash_table_size(relay->sources) + notify_loop_n_sources(relay->notify);
}
