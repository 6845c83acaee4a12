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
#include "libstart/base/socket.h"
#include "libstart/relay-client/record.h"
#include "libstart/relay/notify-loop.h"
#include "libstart/relay/notify-source.h"
#include "libstart/relay/output-loop.h"
#include "libstart/relay/relay-loop.h"
#include "libstart/relay/watch.h"

#define EVENTS_MAX 64
#define REGISTRATION_MAX 4096

/* So often a container is taken over, if that fails: else all it says would be lost. */
#define TRIES 3

struct Relay {
        int epoll;
        int socket;
        FdStore *store;
        OutputLoop *output;
        NotifyLoop *notify;
        bool hurries; /* see hurry() */
        int n_failed; /* tries with the registration that is the first in the queue */
};

Relay *relay_new(int socket, FdStore *store, const char *notify_address, GError **error) {
        g_autoptr(Relay) relay = g_new0(Relay, 1);

        relay->socket = socket;
        relay->store = store;
        relay->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (relay->epoll < 0)
                return error_null_errno(error, errno, "Cannot wait for events");
        /* The only events without any data. */
        if (socket >= 0 && !watch(relay->epoll, EPOLL_CTL_ADD, socket, EPOLLIN, 0, error))
                return NULL;
        relay->notify = notify_loop_new(relay->epoll, store, notify_address);
        relay->output = output_loop_new(relay->epoll, store, error);
        return relay->output ? g_steal_pointer(&relay) : NULL;
}

void relay_free(Relay *relay) {
        if (!relay)
                return;
        notify_loop_free(relay->notify);
        output_loop_free(relay->output);
        fd_closep(&relay->socket);
        fd_closep(&relay->epoll);
        g_free(relay);
}

static bool is_served(const char *name, void *data) {
        const Relay *relay = data;

        return output_loop_serves(relay->output, name) || notify_loop_serves(relay->notify, name);
}

static void close_dropped(const char *name, const int *fds, gsize n_fds, void *data) {
        Relay *relay = data;

        if (notify_source_is_name(name))
                fds_close(fds, n_fds);
        else
                output_loop_close(relay->output, name, fds, n_fds);
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

static bool restore(Relay *relay, const char *name, const GArray *array, bool is_last_try) {
        const int *fds = (const int *) (void *) array->data;
        g_autoptr(GError) error = NULL;

        if (is_served(name, relay)) {
                fds_close(fds, array->len);
                return true;
        }
        if (notify_source_is_name(name) ? notify_loop_restore(relay->notify, name, fds, array->len, &error) :
                                          output_loop_restore(relay->output, name, fds, array->len, &error))
                return true;
        if (is_last_try)
                log_error("Cannot go on with a container ('%s' in the store): %s", name, error->message);
        return false;
}

/* *ret_all: nothing of it has failed. */
static bool restore_all(Relay *relay, bool is_last_try, bool *ret_all, GError **error) {
        g_autoptr(GHashTable)
                groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_array_unref);
        GHashTableIter iter;
        gpointer name, fds;

        if (!fd_store_read(relay->store, collect, groups, error))
                return false;
        *ret_all = true;
        g_hash_table_iter_init(&iter, groups);
        while (g_hash_table_iter_next(&iter, &name, &fds))
                *ret_all &= restore(relay, name, fds, is_last_try);
        return true;
}

bool relay_restore(Relay *relay, GError **error) {
        bool all = false;

        for (int i = 1; i <= TRIES && !all; i++)
                if (!restore_all(relay, i == TRIES, &all, error))
                        return false;
        sweep_store(relay);
        return true;
}

/*
 * Registrations
 */

static bool serve(Relay *relay, const char *text, int *fds, gsize n_fds, GError **error) {
        bool ok = notify_record_is(text) ? notify_loop_register(relay->notify, text, fds, n_fds, error) :
                                           output_loop_register(relay->output, text, fds, n_fds, error);

        fds_close(fds, n_fds);
        return ok;
}

/* systemd holds the queue while we are dead, so a registration is taken out when it is served. */
static bool take_registration(Relay *relay) {
        g_autoptr(GError) error = NULL;
        char text[REGISTRATION_MAX + 1] = "";
        int fds[RELAY_ROLES];
        gsize n_fds;
        ssize_t n = socket_peek(relay->socket, text, REGISTRATION_MAX, fds, RELAY_ROLES, &n_fds);

        if (n == -EAGAIN || n == -EINTR)
                return false;
        if (n < 0)
                error_set_errno(&error, (int) -n, "its registration cannot be read");
        else
                text[n] = '\0';
        if (n < 0 || !serve(relay, text, fds, n_fds, &error)) {
                if (++relay->n_failed < TRIES)
                        return true; /* it is still there */
                log_error("Cannot serve a container: %s", error->message);
                /* Nobody else may have its pipes. */
                (void) socket_peek(relay->socket, text, REGISTRATION_MAX, fds, RELAY_ROLES, &n_fds);
                output_loop_close(relay->output, NULL, fds, n_fds);
        }
        relay->n_failed = 0;
        return recv(relay->socket, text, sizeof text, MSG_DONTWAIT) >= 0;
}

static void handle_event(Relay *relay, const struct epoll_event *event) {
        if (event->data.u64 & ABOUT_NOTIFY)
                notify_loop_event(relay->notify, event);
        else if (event->data.u64 != 0)
                output_loop_event(relay->output, event);
        else
                while (take_registration(relay))
                        ;
}

/* A payload may say READY=1 and end right after it. systemd sees both in this order only if we have passed the
 * message on before it learns of the end, within some hundred microseconds; on a busy machine we would not even get a
 * processor in that time. So while somebody's readiness is awaited, we wait for events with a real-time priority.
 * What is done with it is bounded: a message of each payload in turn, and so many in a time. Lines are moved without
 * it. Where we may not have it, the order is left to luck. */
static void hurry(Relay *relay, bool wanted) {
        const struct sched_param priority = { .sched_priority = wanted ? 1 : 0 };

        if (relay->hurries == wanted)
                return;
        relay->hurries = wanted;
        (void) sched_setscheduler(0, (wanted ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &priority);
}

static int wait_time(const Relay *relay, int timeout) {
        return notify_loop_wait_time(relay->notify, output_loop_wait_time(relay->output, timeout));
}

bool relay_step(Relay *relay, int timeout, GError **error) {
        struct epoll_event events[EVENTS_MAX];
        bool any_ended;
        int n;

        output_loop_move(relay->output);
        hurry(relay, notify_loop_is_urgent(relay->notify));
        n = epoll_wait(relay->epoll, events, EVENTS_MAX, wait_time(relay, timeout));
        if (n < 0 && errno != EINTR)
                return error_set_errno(error, errno, "Cannot wait for events");
        for (int i = 0; i < n; i++)
                handle_event(relay, &events[i]);
        any_ended = notify_loop_step(relay->notify);
        any_ended |= output_loop_step(relay->output);
        if (any_ended || output_loop_has_work(relay->output))
                hurry(relay, false);
        if (any_ended)
                sweep_store(relay);
        output_loop_forget(relay->output);
        return output_loop_can_go_on(relay->output, error);
}

guint relay_n_sources(const Relay *relay) {
        return output_loop_n_sources(relay->output) + notify_loop_n_sources(relay->notify);
}
