/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/socket.h"
#include "libstart/relay/notify-loop.h"
#include "libstart/relay/notify-source.h"
#include "libstart/relay/watch.h"

/* Who has said too much, or cannot be served for another reason, is looked at again after this time. */
#define PAUSE_USEC (100 * G_TIME_SPAN_MILLISECOND)

struct NotifyLoop {
        int epoll;
        FdStore *store;
        char *address;
        int systemd;         /* connected to it, or -1 */
        bool watched;        /* woken when systemd has read something */
        bool complained;     /* said already that systemd cannot be told anything */
        GHashTable *sources; /* by name */
        GQueue ready;        /* something may be there */
        GQueue waiting;      /* for systemd to read */
        GQueue paused;
        gint64 resume_at; /* monotonic: the paused ones */
        GPtrArray *done;  /* to be forgotten at the end of this step */
        guint n_awaited;  /* sources that are not ready yet */
};

/* What an event is about: systemd's socket (no pointer), a source's own, or with this bit its process or its child.
 */
#define ABOUT_PROCESS ((uintptr_t) 1)

NotifyLoop *notify_loop_new(int epoll, FdStore *store, const char *address) {
        NotifyLoop *loop = g_new0(NotifyLoop, 1);

        loop->epoll = epoll;
        loop->store = store;
        loop->address = g_strdup(address);
        loop->systemd = -1;
        loop->sources = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) notify_source_free);
        loop->done = g_ptr_array_new();
        return loop;
}

void notify_loop_free(NotifyLoop *loop) {
        if (!loop)
                return;
        g_hash_table_unref(loop->sources);
        g_queue_clear(&loop->ready);
        g_queue_clear(&loop->waiting);
        g_queue_clear(&loop->paused);
        g_ptr_array_unref(loop->done);
        fd_closep(&loop->systemd);
        g_free(loop->address);
        g_free(loop);
}

static bool watch_edges(NotifyLoop *loop, int operation, int fd, uint32_t events, uintptr_t about, GError **error) {
        return watch(loop->epoll, operation, fd, events | EPOLLET, about | ABOUT_NOTIFY, error);
}

static void enqueue(GQueue *queue, NotifySource *source) {
        if (source->queued)
                return;
        source->queued = true;
        g_queue_push_tail(queue, source);
}

/*
 * systemd
 */

static bool open_systemd(NotifyLoop *loop, GError **error) {
        if (loop->systemd >= 0)
                return true;
        if (!loop->address)
                return error_set(error, KT_ERROR_FAILED, "the relay was not started by systemd");
        loop->systemd = socket_connect(SOCK_DGRAM, loop->address, error);
        loop->watched = false;
        if (loop->systemd >= 0 && watch_edges(loop, EPOLL_CTL_ADD, loop->systemd, 0, 0, error))
                return true;
        fd_close(&loop->systemd);
        return false;
}

static void resume(NotifyLoop *loop, GQueue *queue) {
        for (guint n = g_queue_get_length(queue); n > 0; n--)
                g_queue_push_tail(&loop->ready, g_queue_pop_head(queue));
}

/* It is there again at the next try, or later. */
static void close_systemd(NotifyLoop *loop) {
        fd_close(&loop->systemd);
        resume(loop, &loop->waiting);
}

/* Only while somebody waits for it: in normal times systemd's reading does not wake us. That it is watched anew tells
 * at once how things are, so nothing is missed. */
static void watch_systemd(NotifyLoop *loop, bool wanted) {
        if (loop->systemd >= 0 && loop->watched != wanted &&
            watch_edges(loop, EPOLL_CTL_MOD, loop->systemd, wanted ? EPOLLOUT : 0, 0, NULL))
                loop->watched = wanted;
}

/*
 * Sources
 */

/* Takes it over. What came before it was watched is there already, so each begins in the queue. Where that fails,
 * nothing of it is left, so that it can be tried again. */
static bool serve(NotifyLoop *loop, NotifySource *source, GError **error) {
        if (!watch_edges(loop, EPOLL_CTL_ADD, source->socket, EPOLLIN, (uintptr_t) source, error) ||
            !watch_edges(loop, EPOLL_CTL_ADD, source->pidfd, EPOLLIN, (uintptr_t) source | ABOUT_PROCESS, error)) {
                unwatch(loop->epoll, source->socket);
                notify_source_free(source);
                return false;
        }
        g_hash_table_insert(loop->sources, source->name, source);
        loop->n_awaited += !source->ready;
        enqueue(&loop->ready, source);
        return true;
}

bool notify_loop_register(NotifyLoop *loop, const char *text, int *fds, gsize n_fds, GError **error) {
        g_auto(NotifyRecord) record = { 0 };
        g_autoptr(NotifySource) source = NULL;
        g_autoptr(GError) not_stored = NULL;
        NotifySource *served;

        if (!notify_record_parse(text, &record, error) || !open_systemd(loop, error))
                return false;
        if (!g_str_equal(record.address, loop->address))
                return error_set(error, KT_ERROR_FAILED, "%s was started by another systemd, at '%s'", record.unit,
                                 record.address);
        source = notify_source_new(&record, fds, n_fds, error);
        if (!source)
                return false;
        /* Killed between storing it and taking it from the queue, we have it from the store already. */
        if (notify_loop_serves(loop, source->name))
                return true;
        served = source;
        if (!serve(loop, g_steal_pointer(&source), error))
                return false;
        /* One that does not fit would not outlive us, but is served. */
        if (!notify_source_store(served, loop->store, &not_stored))
                log_warning("%s", not_stored->message);
        return true;
}

bool notify_loop_restore(NotifyLoop *loop, const char *name, const int *fds, gsize n_fds, GError **error) {
        NotifySource *source = notify_source_restore(name, fds, n_fds, error);

        return source && serve(loop, source, error);
}

bool notify_loop_serves(const NotifyLoop *loop, const char *name) {
        return g_hash_table_contains(loop->sources, name);
}

guint notify_loop_n_sources(const NotifyLoop *loop) {
        return g_hash_table_size(loop->sources);
}

/*
 * Events and moves
 */

void notify_loop_event(NotifyLoop *loop, const struct epoll_event *event) {
        NotifySource *source = (NotifySource *) (uintptr_t) (event->data.u64 & ~(ABOUT_NOTIFY | ABOUT_PROCESS));

        if (!source) {
                resume(loop, &loop->waiting);
                return;
        }
        /* Its last words are worth something only until systemd learns of its end. */
        if (event->data.u64 & ABOUT_PROCESS && notify_source_has_ended(source))
                resume(loop, &loop->paused);
        enqueue(&loop->ready, source);
}

static void pause_source(NotifyLoop *loop, NotifySource *source) {
        if (g_queue_is_empty(&loop->paused))
                loop->resume_at = g_get_monotonic_time() + PAUSE_USEC;
        enqueue(&loop->paused, source);
}

static void retry_later(NotifyLoop *loop, NotifySource *source, const char *why) {
        if (!loop->complained)
                log_warning("Trying again to tell systemd what %s says: %s", source->unit ?: "a container", why);
        loop->complained = true;
        close_systemd(loop);
        pause_source(loop, source);
}

static void finish(NotifyLoop *loop, NotifySource *source) {
        unwatch(loop->epoll, source->socket);
        unwatch(loop->epoll, source->pidfd);
        loop->n_awaited -= !source->ready;
        g_ptr_array_add(loop->done, source);
}

/* A child has it: come back when that is done. */
static void wait_for_taker(NotifyLoop *loop, NotifySource *source) {
        uintptr_t about = (uintptr_t) source | ABOUT_PROCESS;

        if (!watch_edges(loop, EPOLL_CTL_ADD, source->taker_fd, EPOLLIN, about, NULL)) {
                fd_close(&source->taker_fd);
                pause_source(loop, source);
        }
}

static bool is_being_taken(NotifyLoop *loop, NotifySource *source) {
        if (source->taker == 0 || notify_source_is_taken(source))
                return false;
        if (source->taker_fd < 0)
                pause_source(loop, source);
        return true;
}

static void move(NotifyLoop *loop, NotifySource *source) {
        g_autoptr(GError) error = NULL;
        bool was_ready = source->ready;
        NotifyResult result;

        if (is_being_taken(loop, source))
                return;
        if (!open_systemd(loop, &error)) {
                retry_later(loop, source, error->message);
                return;
        }
        result = notify_source_move(source, loop->systemd);
        loop->n_awaited -= source->ready && !was_ready;
        switch (result) {
        case NOTIFY_IDLE:
                if (source->ended)
                        finish(loop, source);
                break;
        case NOTIFY_MORE:
                loop->complained = false;
                enqueue(&loop->ready, source);
                break;
        case NOTIFY_BLOCKED:
                enqueue(&loop->waiting, source);
                break;
        case NOTIFY_TAKING:
                wait_for_taker(loop, source);
                break;
        case NOTIFY_PAUSED:
                pause_source(loop, source);
                break;
        case NOTIFY_FAILED:
                retry_later(loop, source, g_strerror(errno));
                break;
        }
}

static bool forget_done(NotifyLoop *loop) {
        bool any = loop->done->len > 0;

        for (guint i = 0; i < loop->done->len; i++)
                g_hash_table_remove(loop->sources, ((NotifySource *) loop->done->pdata[i])->name);
        g_ptr_array_set_size(loop->done, 0);
        return any;
}

bool notify_loop_step(NotifyLoop *loop) {
        if (!g_queue_is_empty(&loop->paused) && g_get_monotonic_time() >= loop->resume_at)
                resume(loop, &loop->paused);
        for (guint n = g_queue_get_length(&loop->ready); n > 0; n--) {
                NotifySource *source = g_queue_pop_head(&loop->ready);

                source->queued = false;
                move(loop, source);
        }
        watch_systemd(loop, !g_queue_is_empty(&loop->waiting));
        return forget_done(loop);
}

bool notify_loop_is_urgent(const NotifyLoop *loop) {
        return loop->n_awaited > 0;
}

int notify_loop_wait_time(const NotifyLoop *loop, int timeout) {
        gint64 left;

        if (!g_queue_is_empty((GQueue *) &loop->ready))
                return 0;
        if (g_queue_is_empty((GQueue *) &loop->paused))
                return timeout;
        left = CLAMP(loop->resume_at - g_get_monotonic_time(), 0, PAUSE_USEC) / G_TIME_SPAN_MILLISECOND + 1;
        return timeout < 0 ? (int) left : MIN(timeout, (int) left);
}
